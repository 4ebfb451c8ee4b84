# Looks into the kernel's own tree of settings.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock opens nothing there.
# unconfined: passed

with attempt("settings of the kernel"):
    os.listdir("/sys/kernel")
