# Puts a key into the kernel.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a key in the kernel"):
    call((248, 217), b"user", b"probe", b"x", 1, -2)
