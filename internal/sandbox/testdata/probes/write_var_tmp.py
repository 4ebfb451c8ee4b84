# Leaves a file in /var/tmp.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file in /var/tmp"):
    path = f"/var/tmp/probe-{os.getpid()}"
    put(path)
    os.unlink(path)
