# Puts a key into the kernel.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("a key in the kernel"):
    call((248, 217), b"user", b"probe", b"x", 1, -2)
