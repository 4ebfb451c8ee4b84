# Compares kernel objects of this run and another (kcmp).
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock lets no run look into a process beside it; without it and the
#   filter, processes of one user may. The server is closed to its own user
#   too.
# unconfined: passed

with attempt("kernel objects were compared"):
    call((312, 272), os.getpid(), C["sibling"], 1, 0, 0)
