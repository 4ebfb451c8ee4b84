# Searches the heap, back from its end, for a text that an earlier run had as
# code, input and output.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (a fresh process holds nothing of an earlier one)

with attempt("found a text of an earlier run"):
    wanted = C["marker"][::-1].encode()  # it comes reversed, so as not to find itself
    libc.sbrk.restype = ctypes.c_void_p
    end = libc.sbrk(ctypes.c_long(0)) & ~0xFFFF
    found, at = False, end
    while not found and libc.msync(ctypes.c_void_p(at - 0x10000), ctypes.c_size_t(0x10000), 1) == 0:  # is it mapped?
        at -= 0x10000
        found = wanted in ctypes.string_at(at, 0x10000 + 64 if at + 0x10000 < end else 0x10000)
    if not found and end - at < 1 << 20:
        raise OSError(errno.EFAULT, "no heap to search")
    if not found:
        raise Refused("not found")
