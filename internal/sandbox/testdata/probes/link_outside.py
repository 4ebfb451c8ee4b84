# Makes a symbolic link outside.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a link outside"):
    os.symlink("/etc/passwd", C["outside"] + "/link")
