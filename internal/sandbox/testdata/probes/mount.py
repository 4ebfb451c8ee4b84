# Mounts a file system over its work folder, in namespaces of its own.
# kind: namespaces
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock lets nobody change mounts.
# unconfined: passed

with attempt("a file system was mounted"):
    call((272, 97), 0x10000000 | 0x20000)
    call((165, 40), b"none", b".", b"tmpfs", 0, None)
