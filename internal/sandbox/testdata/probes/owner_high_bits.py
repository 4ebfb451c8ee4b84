# Makes another run the owner of a pipe, with a bit in the upper half of the
# command, which the kernel ignores.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Landlock drops the signal itself when it is
#   due.
# unconfined: passed

with attempt("another run owns the signals of a pipe"):
    call((72, 25), os.pipe()[0], 1 << 32 | 8, C["sibling"])
