# Makes a second process in a user namespace of its own, where it has every
# capability.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a second process ran in its own user namespace"):
    reap(call((56, 220), 0x10000000 | 17, 0, 0, 0, 0))
