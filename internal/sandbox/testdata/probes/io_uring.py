# Sets up a queue by which calls are made without being calls.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a queue of calls", errno.ENOMEM):  # where memory that it locks counts
    call((425, 425), 4, ctypes.create_string_buffer(120))
