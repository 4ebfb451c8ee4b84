# Sends another run a signal by a process descriptor.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: From ABI 6 Landlock keeps signals inside a run; without it and the
#   filter the kernel asks only for the same user.
# unconfined: passed

with attempt("another run got a signal"):
    call((424, 424), call((434, 434), C["sibling"], 0), 23, None, 0)
