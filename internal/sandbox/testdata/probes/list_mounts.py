# Lists the mounts of the host.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("a list of mounts"):
    call((458, 458), struct.pack("IIQQ", 24, 0, 0xFFFFFFFFFFFFFFFF, 0), ctypes.create_string_buffer(128), 16, 0)
