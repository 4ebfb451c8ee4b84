# Changes the root of the file system, in namespaces of its own.
# kind: namespaces
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock lets nobody change mounts.
# unconfined: passed

with attempt("the kernel looked at the new root"):
    call((272, 97), 0x10000000 | 0x20000)
    reach((155, 41), b".", b".")
