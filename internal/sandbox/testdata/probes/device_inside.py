# Makes a device file in the work folder: the one kind that takes no
# privilege.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a device file"):
    os.mknod("device", 0o020600, 0)
