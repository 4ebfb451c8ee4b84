# Opens a file outside to everyone. Landlock does not see it; the filter
# answers yes and does nothing.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter stops it: Landlock does not look at modes, owners,
#   times and attributes. It takes a file of the same user.
# unconfined: passed

with attempt("everyone may read a file outside"):
    os.chmod(C["outside"] + "/secret.txt", 0o644)
    if os.stat(C["outside"] + "/secret.txt").st_mode & 0o777 != 0o644:
        raise Refused("its mode is as before")
