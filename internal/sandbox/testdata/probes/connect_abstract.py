# Connects to a service by a name that is no path.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: From ABI 6 Landlock keeps such names inside a run.
# unconfined: passed

with attempt("connected to a service"):
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect("\0" + C["abstract"])
