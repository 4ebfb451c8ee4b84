# Sends another run a signal with tgkill(2).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run got a signal"):
    call((234, 131), C["sibling"], C["sibling"], 23)
