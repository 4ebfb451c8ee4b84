# Opens an IPv6 socket.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: either (not every host has IPv6)

with attempt("a socket", errno.EAFNOSUPPORT):
    socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
