# Puts a file beside the runs' folders.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither/root
# passes: neither/user
# why: The folder is the server's, and so open to snippets of the same user.
#   Root gives snippets another user.
# unconfined: passed

with attempt("a file beside the runs' folders"):
    path = C["base"] + f"/planted-{os.getpid()}"
    put(path)
    os.unlink(path)
