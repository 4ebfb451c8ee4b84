# Traces another run.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run is traced"):
    call((101, 117), 0x4206, C["sibling"], 0, 0)
