# Sends by an allowed pair of sockets to an address of its choice.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: passed

with attempt("the kernel looked at the address"):
    reach((44, 206), socket.socketpair()[0].fileno(), b"x", 1, 0, b"\x01\0\0nobody", 9)
