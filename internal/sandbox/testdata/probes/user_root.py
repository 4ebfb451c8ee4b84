# Becomes root.
# kind: identity
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_SETUID)

with attempt("root"):
    call((105, 146), 0)
