# Has the kernel merge its pages with equal ones of other processes (KSM), by
# which the time of a write tells what they hold.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: either (not every kernel merges pages)

import mmap

with attempt("equal pages are merged", errno.EINVAL):
    mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).madvise(12)
