# Makes another run wait for the disk.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run waits for the disk"):
    call((251, 30), 1, C["sibling"], 3 << 13)
