# Sends another run a signal with a value, by rt_sigqueueinfo(2).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run got a signal"):
    call((129, 138), C["sibling"], 23, struct.pack("iii116x", 23, 0, -1))
