# Chooses the signal that the kernel sends when a pipe can be read (F_SETSIG).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

import fcntl

with attempt("the kernel will send SIGKILL"):
    fcntl.fcntl(os.pipe()[0], 10, 9)
