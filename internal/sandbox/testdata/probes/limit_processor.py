# Lifts the limit on its own processor time.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("processor time without a limit"):
    call((302, 261), 0, 0, struct.pack("QQ", (1 << 64) - 1, (1 << 64) - 1), None)
