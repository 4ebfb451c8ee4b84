# Sends the template interpreter a signal.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the template got a signal"):
    os.kill(C["template"], 23)
