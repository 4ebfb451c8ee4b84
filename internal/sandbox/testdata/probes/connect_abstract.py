# Connects to a service by a name that is no path.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("connected to a service"):
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect("\0" + C["abstract"])
