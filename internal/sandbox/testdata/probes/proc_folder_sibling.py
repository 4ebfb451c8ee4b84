# Finds another run's work folder by its process, and reads a file in it.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file of another run"):
    see(f"/proc/{C['sibling']}/cwd/secret.txt")
