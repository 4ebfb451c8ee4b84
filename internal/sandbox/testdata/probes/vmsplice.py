# Lends its own pages to a pipe.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("pages lent"):
    text = ctypes.create_string_buffer(8)
    call((278, 75), os.pipe()[1], struct.pack("QQ", ctypes.addressof(text), 8), 1, 0)
