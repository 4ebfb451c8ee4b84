# Reads a file of another run whose path it knows.
# kind: files
# holds: all, landlock1, landlock2, nolandlock, noseccomp, mounts/user
# passes: mounts/root, neither
# why: A wall of mounts shows the folders of all runs. Each has a random name
#   that a run cannot learn; this probe was told.
# unconfined: passed

with attempt("a file of another run"):
    see(C["sibling_work"] + "/secret.txt")
