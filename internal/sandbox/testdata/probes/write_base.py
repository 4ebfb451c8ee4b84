# Puts a file beside the runs' folders.
# kind: files
# holds: all, landlock1, landlock2, mounts/root, nolandlock, noseccomp, neither/root
# passes: mounts/user, neither/user
# why: The folder is the server's, and so open to snippets of the same user: a
#   wall of mounts must show it writable, since the runs' folders are made in
#   it later. Root gives snippets another user.
# unconfined: passed

with attempt("a file beside the runs' folders"):
    path = C["base"] + f"/planted-{os.getpid()}"
    put(path)
    os.unlink(path)
