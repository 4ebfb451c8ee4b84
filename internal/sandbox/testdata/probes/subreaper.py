# Becomes the parent of orphans, so that they stay out of the server's sight.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("orphans come to it"):
    call((157, 167), 36, 1, 0, 0, 0)
