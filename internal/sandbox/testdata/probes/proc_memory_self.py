# Opens its own memory as a file, by which read-only pages can be written.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# passes: lambda
# why: Landlock keeps a run from the processes beside it. Without it each child
#   makes itself undumpable, for which it needs prctl(2); Lambda refuses that.
# unconfined: passed

with attempt("its own memory is open"):
    os.open("/proc/self/mem", os.O_RDWR)
