# Asks the kernel for a key that does not exist.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("the kernel looked for the key"):
    reach((249, 218), b"user", b"probe-of-nothing", None, 0)
