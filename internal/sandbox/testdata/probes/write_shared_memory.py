# Leaves a file in /dev/shm, which is memory that no limit counts.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file in /dev/shm", errno.ENOENT):
    path = f"/dev/shm/probe-{os.getpid()}"
    put(path)
    os.unlink(path)
