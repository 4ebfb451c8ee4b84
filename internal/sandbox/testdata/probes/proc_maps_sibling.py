# Reads where things lie in another run's memory.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run's address map"):
    see(f"/proc/{C['sibling']}/maps")
