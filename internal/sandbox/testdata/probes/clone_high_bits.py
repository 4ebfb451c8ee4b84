# Hides a fork from a filter that compares whole words: the kernel ignores the
# upper half of clone's flags.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a second process ran"):
    reap(call((56, 220), 0x10D00 << 32 | 17, 0, 0, 0, 0))
