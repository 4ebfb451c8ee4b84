# Chooses the cores of another run.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the cores of another run"):
    os.sched_setaffinity(C["sibling"], os.sched_getaffinity(C["sibling"]))
