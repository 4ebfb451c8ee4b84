# Lets one of an allowed pair of sockets accept others.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the kernel looked at the socket"):
    reach((288, 242), socket.socketpair()[0].fileno(), None, None, 0)
