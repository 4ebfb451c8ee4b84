# Registers for a barrier that stops processors of other processes
# (membarrier).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("registered for the global barrier"):
    call((324, 283), 4, 0, 0)
