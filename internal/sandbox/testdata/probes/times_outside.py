# Changes the times of a file outside. Landlock does not see it; the filter
# answers yes and does nothing.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file outside looks old"):
    os.utime(C["outside"] + "/secret.txt", (1, 1))
    if os.stat(C["outside"] + "/secret.txt").st_mtime != 1:
        raise Refused("its times are as before")
