# Traces the template interpreter.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock lets no run look into a process beside it; without it and the
#   filter, processes of one user may. The server is closed to its own user
#   too.
# unconfined: passed

with attempt("the template is traced"):
    call((101, 117), 0x4206, C["template"], 0, 0)
