# Chooses the cores of another run.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: the kernel asks for the same user.
# unconfined: passed

with attempt("the cores of another run"):
    os.sched_setaffinity(C["sibling"], os.sched_getaffinity(C["sibling"]))
