# Lends its own pages to a pipe.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("pages lent"):
    text = ctypes.create_string_buffer(8)
    call((278, 75), os.pipe()[1], struct.pack("QQ", ctypes.addressof(text), 8), 1, 0)
