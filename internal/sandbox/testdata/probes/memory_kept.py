# Keeps memory that is in no count: shared and of no file, of which it unmaps
# all but a page.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it.
# unconfined: passed

with attempt("memory that is not mapped"):
    size = 8 << 20
    at = call((9, 222), None, size, 3, 0x21, -1, 0)
    ctypes.memset(at, 1, size)
    call((11, 215), at + 4096, size - 4096)
    at = call((25, 216), at, 4096, size, 1)
    if ctypes.string_at(at + size - 4096, 1) != b"\x01":
        raise Refused("it is gone")
