# Sets an option of an allowed pair of sockets.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("an option was set"):
    socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
