# Makes a pair of datagram sockets, which can speak to others by address.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: passed

with attempt("a pair of sockets"):
    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
