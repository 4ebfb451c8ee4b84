# Moves pages from one pipe to another.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("pages moved"):
    (r, w), (_, to) = os.pipe(), os.pipe()
    os.write(w, b"text")
    call((275, 76), r, None, to, None, 4, 0)
