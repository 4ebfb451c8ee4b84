# Removes a folder outside.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a folder outside is gone"):
    os.rmdir(C["outside"] + "/empty")
