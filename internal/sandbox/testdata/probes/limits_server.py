# Changes the limits of the server, here to what they are.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp/root, neither/root
# passes: noseccomp/user, neither/user
# why: Only the filter and another user keep it: the kernel asks for the same
#   user, which root's server is not.
# unconfined: passed

with attempt("limits of the server"):
    now = ctypes.create_string_buffer(16)
    call((302, 261), C["server"], 4, None, now)
    call((302, 261), C["server"], 4, now, None)
