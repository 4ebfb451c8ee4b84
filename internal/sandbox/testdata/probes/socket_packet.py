# Opens a raw network socket.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_NET_RAW)

with attempt("a socket"):
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
