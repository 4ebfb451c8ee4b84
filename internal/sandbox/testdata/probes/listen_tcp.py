# Waits for connections on this machine.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock refuses TCP from ABI 4.
# unconfined: passed

with attempt("waits for connections"):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    s.bind(("127.0.0.1", 0))
    s.listen()
