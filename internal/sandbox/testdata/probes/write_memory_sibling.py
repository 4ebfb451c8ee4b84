# Writes another run's memory with process_vm_writev(2), at an address where
# nothing lies.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# passes: lambda
# why: Landlock keeps a run from the processes beside it. Without it each child
#   makes itself undumpable, for which it needs prctl(2); Lambda refuses that.
# unconfined: passed

with attempt("another run's memory can be written", errno.ESRCH):
    text = ctypes.create_string_buffer(8)
    try:
        call((311, 271), C["sibling"], struct.pack("QQ", ctypes.addressof(text), 8), 1, struct.pack("QQ", 8, 8), 1, 0)
    except OSError as e:
        if e.errno != errno.EFAULT:  # nothing lies there, but it was allowed to write
            raise
