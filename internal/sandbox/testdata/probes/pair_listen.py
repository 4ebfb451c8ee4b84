# Lets one of an allowed pair of sockets wait for others.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the kernel looked at the socket"):
    reach((50, 201), socket.socketpair()[0].fileno(), 1)
