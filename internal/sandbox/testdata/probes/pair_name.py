# Gives one of an allowed pair of sockets a name that other runs can find.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: passed

with attempt("a name for others to find"):
    socket.socketpair()[0].bind(f"\0probe-{os.getpid()}")
