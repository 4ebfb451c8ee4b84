# Asks for the priority of another run at the disk (ioprio_get).
# kind: knowledge
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the question: the kernel answers it to everybody.
# unconfined: passed

with attempt("the disk priority of another run"):
    call((252, 31), 1, C["sibling"])
