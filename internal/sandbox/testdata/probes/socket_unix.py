# Opens a socket of this machine's own kind.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a socket"):
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
