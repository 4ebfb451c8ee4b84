# Opens a Bluetooth socket.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: either (not every kernel has it)

with attempt("a socket", errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT):
    socket.socket(31, socket.SOCK_SEQPACKET, 0)
