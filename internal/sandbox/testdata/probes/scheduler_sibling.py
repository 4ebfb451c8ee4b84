# Chooses the scheduler of another run.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the scheduler of another run"):
    os.sched_setscheduler(C["sibling"], os.SCHED_BATCH, os.sched_param(0))
