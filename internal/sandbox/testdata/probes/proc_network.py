# Lists the connections of the host.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a list of connections"):
    see("/proc/self/net/tcp")
