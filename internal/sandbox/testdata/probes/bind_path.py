# Makes a socket file in its work folder, for another run to connect to.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a socket file"):
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).bind("service")
