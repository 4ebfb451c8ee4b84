# Makes a POSIX timer.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it; the signals come to this process alone, and
#   its timers end with it.
# unconfined: passed

with attempt("a timer was made"):
    call((222, 107), 1, None, struct.pack("i", 0))
