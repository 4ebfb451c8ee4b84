# Makes memory that the kernel itself cannot read.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: either (many kernels have it switched off)

with attempt("secret memory"):
    call((447, 447), 0)
