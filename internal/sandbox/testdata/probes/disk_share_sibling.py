# Makes another run wait for the disk.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: the kernel asks for the same user.
# unconfined: passed

with attempt("another run waits for the disk"):
    call((251, 30), 1, C["sibling"], 3 << 13)
