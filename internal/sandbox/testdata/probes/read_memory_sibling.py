# Reads another run's memory with process_vm_readv(2), at an address that both
# have.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# passes: lambda
# why: Landlock keeps a run from the processes beside it. Without it each child
#   makes itself undumpable, for which it needs prctl(2); Lambda refuses that.
# unconfined: passed

with attempt("another run's memory can be read", errno.ESRCH):
    text = ctypes.create_string_buffer(8)
    try:
        call((310, 270), C["sibling"], struct.pack("QQ", ctypes.addressof(text), 8), 1, struct.pack("QQ", id(None), 8), 1, 0)
    except OSError as e:
        if e.errno != errno.EFAULT:  # nothing lies there, but it was allowed to look
            raise
