# Sends another run a signal by a process descriptor.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run got a signal"):
    call((424, 424), call((434, 434), C["sibling"], 0), 23, None, 0)
