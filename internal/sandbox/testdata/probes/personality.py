# Changes what kind of system the kernel shows, here to a fixed address
# layout.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("another personality"):
    call((135, 92), 0x0040000)
