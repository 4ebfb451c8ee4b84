# Loads another kernel, of no parts.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_SYS_BOOT)

with attempt("the kernel unloaded what there was"):
    call((246, 104), 0, 0, None, 0)
