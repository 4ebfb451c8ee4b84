# Asks a service of this machine by datagram, and has its answer.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a service answered"):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(5)
    s.sendto(b"question", ("127.0.0.1", C["udp"]))
    s.recv(64)
