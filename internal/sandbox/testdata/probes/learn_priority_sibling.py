# Asks for the priority of another run.
# kind: knowledge
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the question: the kernel answers it to everybody.
# unconfined: passed

with attempt("the priority of another run"):
    os.getpriority(os.PRIO_PROCESS, C["sibling"])
