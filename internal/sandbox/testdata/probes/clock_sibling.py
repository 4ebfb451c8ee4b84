# Reads how much processor time another run has used so far, from its clock.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: every clock can be read. It tells how busy
#   another process is.
# unconfined: passed

import time

with attempt("another run's processor time"):
    time.clock_gettime(~C["sibling"] << 3 | 2)
