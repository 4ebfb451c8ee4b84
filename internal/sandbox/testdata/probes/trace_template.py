# Traces the template interpreter.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the template is traced"):
    call((101, 117), 0x4206, C["template"], 0, 0)
