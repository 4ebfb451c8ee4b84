# Takes back the death that comes with the template's.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("it outlives the template"):
    call((157, 167), 1, 0, 0, 0, 0)
