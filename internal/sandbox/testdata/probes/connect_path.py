# Connects to a service by the path of its socket.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of sockets that are found
#   by a path from ABI 9.
# unconfined: passed

with attempt("connected to a service"):
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect(C["socket"])
