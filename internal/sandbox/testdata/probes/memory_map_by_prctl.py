# Reaches the call that changes how the kernel sees its memory.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: either (only kernels with checkpoint and restore)

with attempt("the kernel answered", errno.EINVAL):
    call((157, 167), 35, 15, ctypes.create_string_buffer(8), 0, 0)
