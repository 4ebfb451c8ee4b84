# Traces the server (ptrace).
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the server is traced"):
    call((101, 117), 0x4206, C["server"], 0, 0)  # PTRACE_SEIZE, which does not stop it
