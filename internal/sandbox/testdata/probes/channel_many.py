# Sends many messages over the job channel with one call.
# kind: channel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it; the server takes no descriptor and does not
#   wait for an answer.
# unconfined: passed

with attempt("the kernel took the messages"):
    call((307, 269), 3, None, 0, 0)
