# Connects to a service of this machine.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("connected to a service"):
    socket.create_connection(("127.0.0.1", C["tcp"]), 5).close()
