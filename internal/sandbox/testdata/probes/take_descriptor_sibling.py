# Takes the standard input of another run (pidfd_getfd).
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# passes: lambda
# why: Landlock keeps a run from the processes beside it. Without it each child
#   makes itself undumpable, for which it needs prctl(2); Lambda refuses that.
# unconfined: passed

with attempt("took a descriptor of another run"):
    call((438, 438), call((434, 434), C["sibling"], 0), 0, 0)
