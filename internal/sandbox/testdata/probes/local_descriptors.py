# Reads the processor's local descriptor table (modify_ldt), the source of
# many a kernel bug.
# kind: kernel
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: either (some kernels are built without it)

with attempt("the kernel answered"):
    call((154, None), 0, ctypes.create_string_buffer(16), 16)
