# Makes a second process with fork(2).
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a second process ran"):
    reap(os.fork())
