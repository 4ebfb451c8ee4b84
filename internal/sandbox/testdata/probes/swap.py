# Swaps memory to a file that does not exist.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_SYS_ADMIN)

with attempt("the kernel looked for the file"):
    reach((167, 224), b"/nonexistent", 0)
