# Reads its own address map.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("its own address map"):
    see("/proc/self/maps")
