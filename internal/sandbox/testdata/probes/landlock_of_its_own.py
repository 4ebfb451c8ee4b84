# Asks for file rules of its own.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the kernel offers file rules"):
    call((444, 444), None, 0, 1)
