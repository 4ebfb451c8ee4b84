# Learns whether a file outside exists, and its size. Landlock does not see
# stat(2), and Python cannot start without it.
# kind: visible
# holds: mounts/root
# passes: all, landlock1, landlock2, nolandlock, noseccomp, neither, mounts/user
# why: stat(2) stays open, since Python cannot start without it and Landlock
#   does not look at it. A wall of mounts has no such file to show.
# unconfined: passed

with attempt("the size of /etc/passwd"):
    os.stat("/etc/passwd")
