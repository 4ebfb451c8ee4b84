# Makes a symbolic link in the work folder, for the server to follow.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a link in the work folder"):
    os.symlink("/etc/passwd", "link")
