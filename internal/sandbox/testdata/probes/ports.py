# Asks for the processor's ports.
# kind: kernel
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_SYS_RAWIO)

with attempt("every port"):
    call((172, None), 3)
