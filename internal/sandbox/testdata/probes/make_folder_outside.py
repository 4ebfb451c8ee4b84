# Makes a folder outside.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a new folder outside"):
    os.mkdir(C["outside"] + "/new")
