# Makes shared memory that outlives it (System V).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. What is left stays until someone removes
#   it.
# unconfined: passed

with attempt("shared memory"):
    call((31, 195), call((29, 194), 0, 4096, 0o600), 0, None)
