# Asks to handle page faults by itself, which makes kernel races easy to win.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("page faults are its own"):
    call((323, 282), 1)
