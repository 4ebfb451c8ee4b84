# Writes back every quota of the host.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: either (few kernels have quotas)

with attempt("quotas were written back"):
    call((179, 60), 0x80000100, None, 0, None)
