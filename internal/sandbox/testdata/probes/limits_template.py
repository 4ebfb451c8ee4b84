# Changes the limits of the template, here to what they are.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("limits of the template"):
    now = ctypes.create_string_buffer(16)
    call((302, 261), C["template"], 4, None, now)
    call((302, 261), C["template"], 4, now, None)
