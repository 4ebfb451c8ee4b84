# Reaches the older way to install a filter; there is none at the address that
# it gives.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the kernel looked for the filter"):
    reach((157, 167), 22, 2, 0, 0, 0)
