# Makes another run the owner of the job channel by ioctl, behind the back of
# a filter that knows fcntl only.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Landlock drops the signal itself when it is
#   due.
# unconfined: passed

import fcntl

with attempt("another run owns the signals of the job channel"):
    fcntl.ioctl(3, 0x8901, struct.pack("i", C["sibling"]))  # FIOSETOWN
