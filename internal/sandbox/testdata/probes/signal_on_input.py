# Asks for a signal when a pipe can be read (O_ASYNC).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

import fcntl

with attempt("the kernel will send signals"):
    fcntl.fcntl(os.pipe()[0], fcntl.F_SETFL, 0o20000)
