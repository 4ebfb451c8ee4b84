# Reads how much processor time another run has used so far, from its clock.
# kind: visible
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

import time

with attempt("another run's processor time"):
    time.clock_gettime(~C["sibling"] << 3 | 2)
