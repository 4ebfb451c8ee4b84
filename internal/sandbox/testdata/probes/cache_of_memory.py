# Asks which pages of a mapped file are in memory (mincore).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("what is in memory"):
    here = ctypes.cast(libc.write, ctypes.c_void_p).value & ~4095
    call((27, 232), here, 4096, ctypes.create_string_buffer(1))
