# Sends another run the signal 0, which does nothing but tell that the process
# exists.
# kind: knowledge
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: From ABI 6 Landlock keeps signals inside a run; without it and the filter
#   the kernel asks only for the same user.
# unconfined: passed

with attempt("another run exists"):
    os.kill(C["sibling"], 0)
