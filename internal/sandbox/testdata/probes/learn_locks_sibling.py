# Asks where another run keeps the list of its locks in memory
# (get_robust_list).
# kind: knowledge
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# passes: lambda
# why: Landlock keeps a run from the processes beside it. Without it each child
#   makes itself undumpable, for which it needs prctl(2); Lambda refuses that.
# unconfined: passed

with attempt("an address of another run"):
    call((274, 100), C["sibling"], ctypes.create_string_buffer(8), ctypes.create_string_buffer(8))
