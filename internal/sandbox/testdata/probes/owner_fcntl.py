# Makes another run the owner of a pipe, so that the kernel signals it in
# one's place.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Landlock drops the signal itself when it is
#   due.
# unconfined: passed

import fcntl

with attempt("another run owns the signals of a pipe"):
    fcntl.fcntl(os.pipe()[0], 8, C["sibling"])  # F_SETOWN
