# Keeps a page from being swapped.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a locked page"):
    page = ctypes.create_string_buffer(8192)
    call((149, 228), ctypes.addressof(page), 4096)
