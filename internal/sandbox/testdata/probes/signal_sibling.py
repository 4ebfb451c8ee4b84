# Sends another run a signal.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run got a signal"):
    os.kill(C["sibling"], 23)
