# Reaches the call that changes who it is, with who it is.
# kind: identity
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the call; the kernel grants nothing new by it.
# unconfined: passed

with attempt("the kernel agreed"):
    call((117, 147), os.getuid(), os.getuid(), os.getuid())
