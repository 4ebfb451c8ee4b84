# Sets up the older queue for reading and writing.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("a queue of requests"):
    call((206, 0), 4, ctypes.create_string_buffer(8))
