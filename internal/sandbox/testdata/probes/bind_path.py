# Makes a socket file in its work folder, for another run to connect to.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock lets nobody make a socket file.
# unconfined: passed

with attempt("a socket file"):
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).bind("service")
