# Asks a service of this machine by datagram, and has its answer.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of UDP from ABI 10.
# unconfined: passed

with attempt("a service answered"):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(5)
    s.sendto(b"question", ("127.0.0.1", C["udp"]))
    s.recv(64)
