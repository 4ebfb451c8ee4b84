# Tells the kernel that a page of memory is broken (MADV_HWPOISON).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_SYS_ADMIN)

with attempt("a broken page"):
    libc.mmap.restype = ctypes.c_void_p
    page = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
    call((28, 233), page, 4096, 100)
