# Makes another run slower.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: the kernel asks for the same user.
# unconfined: passed

with attempt("another run is slower"):
    os.setpriority(os.PRIO_PROCESS, C["sibling"], 19)
