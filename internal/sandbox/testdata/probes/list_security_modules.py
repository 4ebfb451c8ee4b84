# Lists the security modules of the host.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a list of security modules"):
    call((461, 461), ctypes.create_string_buffer(128), struct.pack("I", 128), 0)
