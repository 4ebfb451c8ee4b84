# Asks for a signal when a folder changes (F_NOTIFY).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

import fcntl

with attempt("the kernel will send signals"):
    fcntl.fcntl(os.open(".", os.O_RDONLY | os.O_DIRECTORY), 1026, 2)
