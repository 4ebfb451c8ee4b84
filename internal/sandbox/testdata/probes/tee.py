# Shares the pages of two pipes.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("pages shared"):
    (r, w), (_, to) = os.pipe(), os.pipe()
    os.write(w, b"text")
    call((276, 77), r, to, 4, 0)
