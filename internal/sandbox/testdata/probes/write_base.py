# Puts a file beside the runs' folders.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file beside the runs' folders"):
    path = C["base"] + f"/planted-{os.getpid()}"
    put(path)
    os.unlink(path)
