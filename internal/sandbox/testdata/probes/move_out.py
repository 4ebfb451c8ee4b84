# Moves a file of the work folder outside.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a planted file", errno.EXDEV):
    put("mine.txt")
    os.rename("mine.txt", C["outside"] + "/planted.txt")
