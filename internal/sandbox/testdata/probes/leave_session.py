# Leaves the session of the template, and with it the signals that are meant
# for all of it.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a session of its own"):
    os.setsid()
