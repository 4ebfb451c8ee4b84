# Makes a thread that shares no descriptors with the others, with clone(2) and
# without CLONE_FILES.
# kind: limits
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Without it every thread can hold as many
#   descriptors again, and what it holds is in no count.
# unconfined: passed

with attempt("a thread with descriptors beside those of the run"):
    stack = ctypes.create_string_buffer(4096)
    # clone(flags, stack, 0, 0, 0); the thread exits at once, the caller returns its id
    machine_code(b"\x31\xd2\x45\x31\xd2\x45\x31\xc0\xb8\x38\x00\x00\x00\x0f\x05"
                 b"\x48\x85\xc0\x75\x09\xb8\x3c\x00\x00\x00\x31\xff\x0f\x05\xc3",
                 0x50B00, (ctypes.addressof(stack) + 4096) & ~0xF)
    time.sleep(0.1)  # until it is off its stack
