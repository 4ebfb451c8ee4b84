# Takes the standard input of another run (pidfd_getfd).
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock lets no run look into a process beside it; without it and the
#   filter, processes of one user may. The server is closed to its own user
#   too.
# unconfined: passed

with attempt("took a descriptor of another run"):
    call((438, 438), call((434, 434), C["sibling"], 0), 0, 0)
