# Chooses the signal that the kernel sends when a pipe can be read (F_SETSIG).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it; the signals come to this process alone, and
#   its timers end with it.
# unconfined: passed

import fcntl

with attempt("the kernel will send SIGKILL"):
    fcntl.fcntl(os.pipe()[0], 10, 9)
