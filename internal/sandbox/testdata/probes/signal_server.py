# Sends the server a signal that it ignores; one that it cannot ignore would
# go the same way.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither/root
# passes: neither/user
# why: Only another user, which root gives its snippets, keeps it: Landlock,
#   from ABI 6, keeps signals inside a run, and the filter refuses them.
# unconfined: passed

with attempt("the server got a signal"):
    os.kill(C["server"], 23)
