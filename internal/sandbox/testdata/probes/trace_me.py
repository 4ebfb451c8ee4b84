# Asks the template to trace it, which would stop it at every signal.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the parent traces this run"):
    call((101, 117), 0, 0, 0, 0)
