# Has a thread take a table of descriptors of its own, with close_range(2) and
# CLOSE_RANGE_UNSHARE.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Without it every thread can hold as many
#   descriptors again, and what it holds is in no count.
# unconfined: passed

with attempt("descriptors beside those of the run"):
    call((436, 436), 1 << 20, 1 << 20, 2)
