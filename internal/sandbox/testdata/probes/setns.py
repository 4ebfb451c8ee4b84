# Moves to a namespace that a descriptor names; this one names none.
# kind: namespaces
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the call.
# unconfined: passed

with attempt("the kernel looked at the descriptor"):
    reach((308, 268), -1, 0)
