# Changes the limits of the server, here to what they are.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("limits of the server"):
    now = ctypes.create_string_buffer(16)
    call((302, 261), C["server"], 4, None, now)
    call((302, 261), C["server"], 4, now, None)
