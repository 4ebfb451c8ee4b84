# Opens a socket of this machine's own kind.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: passed

with attempt("a socket"):
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
