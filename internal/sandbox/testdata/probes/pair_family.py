# Reaches the makers of socket pairs of other families, of which none can.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: passed

with attempt("the kernel looked at the family"):
    reach((53, 199), socket.AF_INET, 1, 0, ctypes.create_string_buffer(8))
