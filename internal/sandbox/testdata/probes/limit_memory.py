# Lifts the limit on its own memory.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("memory without a limit"):
    call((302, 261), 0, 9, struct.pack("QQ", (1 << 64) - 1, (1 << 64) - 1), None)
