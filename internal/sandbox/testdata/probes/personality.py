# Changes what kind of system the kernel shows, here to a fixed address
# layout.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another personality"):
    call((135, 92), 0x0040000)
