# Changes its own root folder, in a namespace of its own.
# kind: namespaces
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. The capabilities count in the new namespace
#   alone; the danger is the kernel code that they open.
# unconfined: passed

with attempt("another root folder"):
    call((272, 97), 0x10000000)
    os.chroot("/")
