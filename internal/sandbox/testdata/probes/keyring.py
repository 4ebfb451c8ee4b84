# Makes a keyring.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a keyring"):
    call((250, 219), 0, -2, 1)
