# Asks to come before every other process.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_SYS_NICE)

with attempt("before every other process"):
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
