# Makes a file in memory that no limit on files counts.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file in memory"):
    call((319, 279), b"probe", 0)
