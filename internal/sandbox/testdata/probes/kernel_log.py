# Asks how large the kernel's log is.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: either (most systems keep the log to root)

with attempt("the size of the kernel's log"):
    call((103, 116), 10, None, 0)
