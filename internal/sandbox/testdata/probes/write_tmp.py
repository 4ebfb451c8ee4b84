# Leaves a file in /tmp.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file in /tmp"):
    path = f"/tmp/probe-{os.getpid()}"
    put(path)
    os.unlink(path)
