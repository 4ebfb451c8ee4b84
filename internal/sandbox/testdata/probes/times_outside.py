# Changes the times of a file outside. Landlock does not see it; the filter
# answers yes and does nothing.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter stops it: Landlock does not look at modes, owners,
#   times and attributes. It takes a file of the same user.
# unconfined: passed

with attempt("a file outside looks old"):
    os.utime(C["outside"] + "/secret.txt", (1, 1))
    if os.stat(C["outside"] + "/secret.txt").st_mtime != 1:
        raise Refused("its times are as before")
