# Compares kernel objects of this run and another (kcmp).
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("kernel objects were compared"):
    call((312, 272), os.getpid(), C["sibling"], 1, 0, 0)
