# Opens a socket to the machine's host.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: either (virtual machines only)

with attempt("a socket", errno.EAFNOSUPPORT):
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
