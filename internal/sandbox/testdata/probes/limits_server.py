# Changes the limits of the server, here to what they are.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp/root, neither/root
# passes: noseccomp/user, neither/user
# why: The kernel asks for the same user. Without the filter only another
#   user, which root gives its snippets, keeps the server's limits.
# unconfined: passed

with attempt("limits of the server"):
    now = ctypes.create_string_buffer(16)
    call((302, 261), C["server"], 4, None, now)
    call((302, 261), C["server"], 4, now, None)
