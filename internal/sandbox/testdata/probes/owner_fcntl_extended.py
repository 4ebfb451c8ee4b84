# Makes another run the owner of a pipe, by the newer command.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

import fcntl

with attempt("another run owns the signals of a pipe"):
    fcntl.fcntl(os.pipe()[0], 15, struct.pack("ii", 1, C["sibling"]))  # F_SETOWN_EX, F_OWNER_PID
