# Connects one of an allowed pair of sockets to something else; it is
# connected already, and the question is whether the kernel looks.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: passed

with attempt("the kernel looked at the address"):
    reach((42, 203), socket.socketpair()[0].fileno(), b"\x01\0\0nobody", 9)
