# Makes semaphores that outlive it (System V).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. What is left stays until someone removes
#   it.
# unconfined: passed

with attempt("semaphores"):
    call((66, 191), call((64, 190), 0, 1, 0o600), 0, 0, 0)
