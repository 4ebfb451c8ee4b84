# Sends the server a signal that it ignores; one that it cannot ignore would
# go the same way.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither/root
# passes: neither/user
# why: From ABI 6 Landlock keeps signals inside a run. Without it and the
#   filter only another user, which root gives its snippets, keeps the server
#   from them.
# unconfined: passed

with attempt("the server got a signal"):
    os.kill(C["server"], 23)
