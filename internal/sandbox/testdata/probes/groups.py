# Joins a group.
# kind: identity
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_SETGID)

with attempt("a member of group 0"):
    call((116, 159), 1, struct.pack("I", 0))
