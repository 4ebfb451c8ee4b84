# Opens a socket to the kernel itself.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: passed

with attempt("a socket"):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
