# Traces another run.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# passes: lambda
# why: Landlock keeps a run from the processes beside it. Without it each child
#   makes itself undumpable, for which it needs prctl(2); Lambda refuses that.
# unconfined: passed

with attempt("another run is traced"):
    call((101, 117), 0x4206, C["sibling"], 0, 0)
