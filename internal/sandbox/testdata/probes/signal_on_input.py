# Asks for a signal when a pipe can be read (O_ASYNC).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it; the signals come to this process alone, and
#   its timers end with it.
# unconfined: passed

import fcntl

with attempt("the kernel will send signals"):
    fcntl.fcntl(os.pipe()[0], fcntl.F_SETFL, 0o20000)
