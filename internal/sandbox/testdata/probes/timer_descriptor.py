# Makes a timer that is a descriptor.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a timer was made"):
    call((283, 85), 1, 0)
