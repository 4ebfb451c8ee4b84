# Sends another run a signal with the older tkill(2).
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run got a signal"):
    call((200, 130), C["sibling"], 23)
