# Makes a second process with clone(2) and nothing but an exit signal.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a second process ran"):
    reap(call((56, 220), 17, 0, 0, 0, 0))
