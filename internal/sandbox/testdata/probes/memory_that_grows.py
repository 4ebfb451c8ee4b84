# Maps memory that grows downward by itself.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("memory that grows"):
    call((9, 222), None, 4096, 3, 0x122, -1, 0)
