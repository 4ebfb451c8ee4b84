# Opens its own memory as a file, by which read-only pages can be written.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("its own memory is open"):
    os.open("/proc/self/mem", os.O_RDWR)
