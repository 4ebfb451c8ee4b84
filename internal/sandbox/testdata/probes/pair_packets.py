# Makes a pair of the same kind as the job channel.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a pair of sockets"):
    socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
