# Learns the path of another run's work folder, which opens nothing but is not
# to be known.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# passes: lambda
# why: Landlock keeps a run from the processes beside it. Without it each child
#   makes itself undumpable, for which it needs prctl(2); Lambda refuses that.
# unconfined: passed

with attempt("the path of another run's work folder"):
    os.readlink(f"/proc/{C['sibling']}/cwd")
