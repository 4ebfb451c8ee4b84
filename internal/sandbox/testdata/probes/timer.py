# Makes a POSIX timer.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a timer was made"):
    call((222, 107), 1, None, struct.pack("i", 0))
