# Sends the template a signal with a value, by rt_tgsigqueueinfo(2).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: From ABI 6 Landlock keeps signals inside a run; without it and the
#   filter the kernel asks only for the same user.
# unconfined: passed

with attempt("the template got a signal"):
    call((297, 240), C["template"], C["template"], 23, struct.pack("iii116x", 23, 0, -1))
