# Begins a mount with the newer calls, in namespaces of its own.
# kind: namespaces
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. The capabilities count in the new namespace
#   alone; the danger is the kernel code that they open.
# unconfined: passed

with attempt("a file system was opened for mounting"):
    call((272, 97), 0x10000000 | 0x20000)
    call((430, 430), b"tmpfs", 0)
