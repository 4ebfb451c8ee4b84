# Asks for the scheduler of another run.
# kind: knowledge
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the question: the kernel answers it to everybody.
# unconfined: passed

with attempt("the scheduler of another run"):
    os.sched_getscheduler(C["sibling"])
