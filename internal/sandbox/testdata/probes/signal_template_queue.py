# Sends the template a signal with a value, by rt_tgsigqueueinfo(2).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the template got a signal"):
    call((297, 240), C["template"], C["template"], 23, struct.pack("iii116x", 23, 0, -1))
