# Shuts the job channel down for whoever holds it.
# kind: channel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("shut down"):
    copy, _ = socket.socketpair()
    call((48, 210), copy.fileno(), 0)
