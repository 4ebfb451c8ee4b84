# Leaves the session of the template, and with it the signals that are meant
# for all of it.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Where it is missing, the server ends what a
#   run leaves before it answers.
# unconfined: passed

with attempt("a session of its own"):
    os.setsid()
