# Makes a second process with clone(2) and nothing but an exit signal.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Where it is missing, the server ends what a
#   run leaves before it answers.
# unconfined: passed

with attempt("a second process ran"):
    reap(call((56, 220), 17, 0, 0, 0, 0))
