# Asks for the handle of a file outside, by which it can be opened without a
# path.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Opening by a handle takes a capability.
# unconfined: passed

with attempt("a handle"):
    handle = ctypes.create_string_buffer(struct.pack("Ii", 120, 0), 128)
    call((303, 264), -100, os.fsencode(C["outside"] + "/secret.txt"), handle, ctypes.create_string_buffer(8), 0)
