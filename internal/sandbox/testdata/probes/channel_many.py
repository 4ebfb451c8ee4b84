# Sends many messages over the job channel with one call.
# kind: channel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the kernel took the messages"):
    call((307, 269), 3, None, 0, 0)
