# Changes its own standard input, which it shares with the server.
# kind: channel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the input changed"):
    os.pwrite(0, b"x", 0)
