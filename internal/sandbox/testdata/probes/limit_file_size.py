# Lifts the limit on the size of its own files.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("files without a limit"):
    call((302, 261), 0, 1, struct.pack("QQ", (1 << 64) - 1, (1 << 64) - 1), None)
