# Opens an IPv6 socket.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: either (not every host has IPv6)

with attempt("a socket", errno.EAFNOSUPPORT):
    socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
