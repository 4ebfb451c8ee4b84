# Makes a message queue that outlives it (System V).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a message queue"):
    call((71, 187), call((68, 186), 0, 0o600), 0, None)
