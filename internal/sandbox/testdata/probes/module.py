# Loads a kernel module, of no bytes.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_SYS_MODULE)

with attempt("the kernel looked at the module"):
    reach((175, 105), b"", 0, b"")
