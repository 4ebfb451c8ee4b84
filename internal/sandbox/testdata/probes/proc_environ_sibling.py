# Reads another run's environment.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run's environment"):
    see(f"/proc/{C['sibling']}/environ")
