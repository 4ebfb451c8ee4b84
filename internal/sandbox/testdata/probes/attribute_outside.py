# Writes an extended attribute of a file outside.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter stops it: Landlock does not look at modes, owners,
#   times and attributes. It takes a file of the same user.
# unconfined: passed

with attempt("an attribute of a file outside", errno.ENOTSUP):
    os.setxattr(C["outside"] + "/secret.txt", "user.probe", b"x")
