# Removes a file outside.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file outside is gone"):
    os.unlink(C["outside"] + "/secret.txt")
