# Asks for memory from the host's pool of huge pages, which is in no count of
# resident memory.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps a run from the pool, if the host has one.
# unconfined: passed

with attempt("the kernel looked into the pool"):
    reach((9, 222), None, 2 << 20, 3, 0x40022, -1, 0)
