# Reaches the older way to install a filter; there is none at the address that
# it gives.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("the kernel looked for the filter"):
    reach((157, 167), 22, 2, 0, 0, 0)
