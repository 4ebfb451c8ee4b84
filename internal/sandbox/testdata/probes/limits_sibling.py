# Changes the limits of another run, here to what they are.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: the kernel asks for the same user.
# unconfined: passed

with attempt("limits of another run"):
    now = ctypes.create_string_buffer(16)
    call((302, 261), C["sibling"], 4, None, now)
    call((302, 261), C["sibling"], 4, now, None)
