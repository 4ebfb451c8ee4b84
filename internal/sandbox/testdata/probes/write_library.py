# Changes the Python library, which later runs would load.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: either (the library mostly belongs to root)

with attempt("the library is open for writing"):
    os.open(os.__file__, os.O_WRONLY)
