# Enlarges its standard output's pipe, out of a budget that all processes of a
# user share.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

import fcntl

with attempt("a larger pipe"):
    fcntl.fcntl(os.pipe()[1], 1031, 1 << 18)
