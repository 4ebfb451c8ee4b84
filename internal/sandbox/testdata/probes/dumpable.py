# Says whether others may read its memory.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("its own choice"):
    call((157, 167), 4, 1, 0, 0, 0)
