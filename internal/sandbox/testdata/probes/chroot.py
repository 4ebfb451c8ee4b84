# Changes its own root folder, in a namespace of its own.
# kind: namespaces
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another root folder"):
    call((272, 97), 0x10000000)
    os.chroot("/")
