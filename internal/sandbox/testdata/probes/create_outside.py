# Makes a file outside the work folder.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a new file outside"):
    put(C["outside"] + "/new.txt")
