# Sends the server a signal that it ignores; one that it cannot ignore would
# go the same way.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the server got a signal"):
    os.kill(C["server"], 23)
