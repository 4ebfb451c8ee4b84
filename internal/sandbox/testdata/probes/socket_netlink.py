# Opens a socket to the kernel itself.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a socket"):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
