# Has the kernel take a page out of use for good, as if its hardware failed.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_SYS_ADMIN)

with attempt("a page of the host's memory is gone", errno.EINVAL):
    page = ctypes.create_string_buffer(8192)
    call((28, 233), (ctypes.addressof(page) + 4095) & ~4095, 4096, 100)
