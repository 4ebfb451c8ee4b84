# Sends another run a signal with a value, by rt_sigqueueinfo(2).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: From ABI 6 Landlock keeps signals inside a run; without it and the
#   filter the kernel asks only for the same user.
# unconfined: passed

with attempt("another run got a signal"):
    call((129, 138), C["sibling"], 23, struct.pack("iii116x", 23, 0, -1))
