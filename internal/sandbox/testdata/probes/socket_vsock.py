# Opens a socket to the machine's host.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: either (virtual machines only)

with attempt("a socket", errno.EAFNOSUPPORT):
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
