# Asks a futex that inherits priorities about a process by its number: the
# answer differs if there is one.
# kind: knowledge
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the question: the kernel answers it to
#   everybody.
# unconfined: passed

def owned_by(number):
    word, now = ctypes.c_uint32(number), struct.pack("qq", 0, 1)
    if libc.syscall(ctypes.c_long(202 if X86 else 98), ctypes.byref(word), ctypes.c_long(6 | 128), ctypes.c_long(0), now, None, ctypes.c_long(0)) == 0:
        raise RuntimeError("locked")
    return ctypes.get_errno()


with attempt("another run exists"):
    if owned_by(C["sibling"]) == owned_by((1 << 22) - 1):
        raise Refused("the same answer")
