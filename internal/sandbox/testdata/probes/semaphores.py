# Makes semaphores that outlive it (System V).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("semaphores"):
    call((66, 191), call((64, 190), 0, 1, 0o600), 0, 0, 0)
