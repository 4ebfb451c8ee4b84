# Learns the path of another run's work folder, which opens nothing but is not
# to be known.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the path of another run's work folder"):
    os.readlink(f"/proc/{C['sibling']}/cwd")
