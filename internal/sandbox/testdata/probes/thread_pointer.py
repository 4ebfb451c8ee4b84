# Reads a segment register by arch_prctl(2).
# kind: kernel
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("the kernel answered"):
    call((158, None), 0x1003, ctypes.create_string_buffer(8))
