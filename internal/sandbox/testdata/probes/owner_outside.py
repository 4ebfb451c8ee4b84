# Reaches the call that gives a file outside to a group, with the group that
# it has.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter stops it: Landlock does not look at modes, owners,
#   times and attributes. It takes a file of the same user.
# unconfined: passed

with attempt("the kernel agreed"):
    os.chown(C["outside"] + "/secret.txt", -1, os.getgid())
