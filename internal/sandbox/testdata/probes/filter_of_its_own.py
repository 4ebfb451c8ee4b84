# Installs a system call filter of its own, by which it could lie to code that
# runs later.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("its own filter"):
    libc.prctl(38, ctypes.c_long(1), ctypes.c_long(0), ctypes.c_long(0), ctypes.c_long(0))
    allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000), 8)
    call((317, 277), 1, 0, struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)))
