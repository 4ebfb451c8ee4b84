# Makes a message queue that outlives it (System V).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. What is left stays until someone removes
#   it.
# unconfined: passed

with attempt("a message queue"):
    call((71, 187), call((68, 186), 0, 0o600), 0, None)
