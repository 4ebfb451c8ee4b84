# Opens a TCP socket.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a socket"):
    socket.socket(socket.AF_INET, socket.SOCK_STREAM)
