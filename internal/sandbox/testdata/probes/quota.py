# Writes back every quota of the host.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: either (few kernels have quotas)

with attempt("quotas were written back"):
    call((179, 60), 0x80000100, None, 0, None)
