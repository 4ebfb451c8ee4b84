# Reads the host's load, its number of processes and how much memory is free
# (sysinfo).
# kind: knowledge
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the question: the kernel answers it to everybody.
# unconfined: passed

with attempt("the host's load"):
    call((99, 179), ctypes.create_string_buffer(128))
