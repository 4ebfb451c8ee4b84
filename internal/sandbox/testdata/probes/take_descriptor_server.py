# Takes a descriptor of the server (pidfd_getfd).
# kind: memory
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("took a descriptor of the server"):
    call((438, 438), call((434, 434), C["server"], 0), 0, 0)
