# Moves to a network of its own, with every capability over it.
# kind: namespaces
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a network of its own"):
    call((272, 97), 0x10000000 | 0x40000000)
