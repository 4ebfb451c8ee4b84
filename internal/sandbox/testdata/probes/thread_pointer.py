# Reads a segment register by arch_prctl(2).
# kind: kernel
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the kernel answered"):
    call((158, None), 0x1003, ctypes.create_string_buffer(8))
