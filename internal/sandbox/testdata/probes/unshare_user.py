# Moves to a user namespace of its own, where it has every capability.
# kind: namespaces
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("every capability, in a namespace"):
    call((272, 97), 0x10000000)
