# Makes a device file in the work folder: the one kind that takes no
# privilege.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a device file"):
    os.mknod("device", 0o020600, 0)
