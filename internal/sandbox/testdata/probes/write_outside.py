# Writes to a file of its own user outside the work folder.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file outside changed"):
    put(C["outside"] + "/secret.txt")
