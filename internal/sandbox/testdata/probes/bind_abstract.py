# Takes a name that is no path, for another run to connect to.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a name for others to find"):
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).bind(f"\0probe-{os.getpid()}")
