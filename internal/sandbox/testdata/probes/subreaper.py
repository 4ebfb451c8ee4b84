# Becomes the parent of orphans, so that they stay out of the server's sight.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("orphans come to it"):
    call((157, 167), 36, 1, 0, 0, 0)
