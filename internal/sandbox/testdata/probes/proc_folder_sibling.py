# Finds another run's work folder by its process, and reads a file in it.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# passes: lambda
# why: Landlock keeps a run from the processes beside it. Without it each child
#   makes itself undumpable, for which it needs prctl(2); Lambda refuses that.
# unconfined: passed

with attempt("a file of another run"):
    see(f"/proc/{C['sibling']}/cwd/secret.txt")
