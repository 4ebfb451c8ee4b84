# Takes back the death that comes with the template's.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("it outlives the template"):
    call((157, 167), 1, 0, 0, 0, 0)
