# Makes a symbolic link in the work folder, for the server to follow.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a link in the work folder"):
    os.symlink("/etc/passwd", "link")
