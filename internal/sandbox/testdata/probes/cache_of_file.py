# Asks which pages of a file are in memory (cachestat).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("what the page cache holds"):
    call((451, 451), 0, struct.pack("QQ", 0, 4096), ctypes.create_string_buffer(40), 0)
