# Asks to handle page faults by itself, which makes kernel races easy to win.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("page faults are its own"):
    call((323, 282), 1)
