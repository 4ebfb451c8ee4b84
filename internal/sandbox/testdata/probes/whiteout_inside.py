# Makes a device file in its own folder: the one that a rename leaves behind
# with RENAME_WHITEOUT.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock is not asked.
# unconfined: passed

with attempt("a device file", errno.EINVAL):
    put("before")
    call((316, 276), -100, b"before", -100, b"after", 4)
    os.stat("before")
