# Writes an extended attribute of a file outside.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("an attribute of a file outside", errno.ENOTSUP):
    os.setxattr(C["outside"] + "/secret.txt", "user.probe", b"x")
