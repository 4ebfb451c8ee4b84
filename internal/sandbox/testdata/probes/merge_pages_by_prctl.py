# Has the kernel merge all of its pages with equal ones of other processes, by
# prctl(2).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: either (only kernels from 6.4 on that merge pages)

with attempt("equal pages are merged", errno.EINVAL):
    call((157, 167), 67, 1, 0, 0, 0)
