# Copies a mount, in namespaces of its own.
# kind: namespaces
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a mount was copied"):
    call((272, 97), 0x10000000 | 0x20000)
    call((428, 428), -100, b".", 1 | 0x8000)  # OPEN_TREE_CLONE, AT_RECURSIVE
