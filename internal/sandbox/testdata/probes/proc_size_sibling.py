# Learns the size of a file of another run without knowing its path.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the size of a file of another run"):
    os.stat(f"/proc/{C['sibling']}/cwd/secret.txt")
