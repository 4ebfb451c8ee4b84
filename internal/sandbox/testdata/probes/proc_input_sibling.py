# Opens another run's standard input by its descriptor.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# passes: lambda
# why: Landlock keeps a run from the processes beside it. Without it each child
#   makes itself undumpable, for which it needs prctl(2); Lambda refuses that.
# unconfined: passed

with attempt("another run's input is open"):
    os.open(f"/proc/{C['sibling']}/fd/0", os.O_RDONLY)
