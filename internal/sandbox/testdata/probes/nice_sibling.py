# Makes another run slower.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run is slower"):
    os.setpriority(os.PRIO_PROCESS, C["sibling"], 5)
