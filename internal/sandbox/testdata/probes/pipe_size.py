# Enlarges its standard output's pipe, out of a budget that all processes of a
# user share.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

import fcntl

with attempt("a larger pipe"):
    fcntl.fcntl(os.pipe()[1], 1031, 1 << 18)
