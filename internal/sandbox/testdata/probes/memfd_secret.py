# Makes memory that the kernel itself cannot read.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: either (many kernels have it switched off)

with attempt("secret memory"):
    call((447, 447), 0)
