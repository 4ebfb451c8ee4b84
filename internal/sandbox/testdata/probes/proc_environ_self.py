# Reads the environment that its own process was started with.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("its own environment"):
    see("/proc/self/environ")
