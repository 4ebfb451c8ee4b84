# Shares the pages of two pipes.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("pages shared"):
    (r, w), (_, to) = os.pipe(), os.pipe()
    os.write(w, b"text")
    call((276, 77), r, to, 4, 0)
