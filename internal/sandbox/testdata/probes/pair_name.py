# Gives one of an allowed pair of sockets a name that other runs can find.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a name for others to find"):
    socket.socketpair()[0].bind(f"\0probe-{os.getpid()}")
