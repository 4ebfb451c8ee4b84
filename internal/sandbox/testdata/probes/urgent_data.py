# Sends urgent data over an allowed pair of sockets, by code of the kernel's
# that nothing needs.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: either (not every kernel has it for Unix sockets)

with attempt("urgent data", errno.EOPNOTSUPP):
    a, b = socket.socketpair()
    a.send(b"x", socket.MSG_OOB)
