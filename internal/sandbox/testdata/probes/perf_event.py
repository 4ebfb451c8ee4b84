# Opens a performance counter on itself.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("a performance counter"):
    call((298, 241), struct.pack("IIQQQQQ64x", 1, 112, 0, 0, 0, 0, 1 << 5 | 1 << 6), 0, -1, -1, 0)
