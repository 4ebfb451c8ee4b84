# Asks for a signal when a pipe can be read, by ioctl (FIOASYNC).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

import fcntl

with attempt("the kernel will send signals"):
    fcntl.ioctl(os.pipe()[0], 0x5452, struct.pack("i", 1))
