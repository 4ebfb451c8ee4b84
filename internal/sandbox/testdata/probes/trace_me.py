# Asks the template to trace it, which would stop it at every signal.
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it; it takes effect only if the template asks
#   what became of it, which it does when the run is dead.
# unconfined: passed

with attempt("the parent traces this run"):
    call((101, 117), 0, 0, 0, 0)
