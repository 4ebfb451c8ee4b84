# Reaches the makers of socket pairs of other families, of which none can.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the kernel looked at the family"):
    reach((53, 199), socket.AF_INET, 1, 0, ctypes.create_string_buffer(8))
