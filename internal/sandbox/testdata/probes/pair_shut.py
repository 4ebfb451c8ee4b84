# Shuts one of an allowed pair of sockets down for whoever holds it.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: passed

with attempt("shut down"):
    one, _ = socket.socketpair()
    call((48, 210), one.fileno(), 0)
