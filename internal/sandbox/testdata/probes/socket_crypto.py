# Opens a socket to the kernel's ciphers.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: either (not every kernel has it)

with attempt("a socket", errno.EAFNOSUPPORT):
    socket.socket(38, socket.SOCK_SEQPACKET, 0)
