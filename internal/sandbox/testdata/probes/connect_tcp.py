# Connects to a service of this machine.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock refuses TCP from ABI 4; without it and the filter every
#   service that listens on this machine is in reach.
# unconfined: passed

with attempt("connected to a service"):
    socket.create_connection(("127.0.0.1", C["tcp"]), 5).close()
