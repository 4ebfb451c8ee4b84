# Learns whether a file outside exists, and its size. Landlock does not see
# stat(2), and Python cannot start without it.
# kind: visible
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the size of /etc/passwd"):
    os.stat("/etc/passwd")
