# Makes a watch of the newer kind (fanotify).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a group of watches"):
    call((300, 262), 0x200, 0)
