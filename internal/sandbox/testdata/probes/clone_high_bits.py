# Hides a fork from a filter that compares whole words: the kernel ignores the
# upper half of clone's flags.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Where it is missing, the server ends what a
#   run leaves before it answers.
# unconfined: passed

with attempt("a second process ran"):
    reap(call((56, 220), 0x10D00 << 32 | 17, 0, 0, 0, 0))
