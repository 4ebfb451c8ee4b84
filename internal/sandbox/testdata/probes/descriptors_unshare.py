# Takes a table of descriptors of its own, with unshare(2) and CLONE_FILES.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Without it every thread can hold as many
#   descriptors again, and what it holds is in no count.
# unconfined: passed

with attempt("descriptors beside those of the run"):
    call((272, 97), 0x400)
