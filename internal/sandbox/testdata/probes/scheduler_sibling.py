# Chooses the scheduler of another run.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: the kernel asks for the same user.
# unconfined: passed

with attempt("the scheduler of another run"):
    os.sched_setscheduler(C["sibling"], os.SCHED_BATCH, os.sched_param(0))
