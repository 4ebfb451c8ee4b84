# Puts a file into the folder of another run.
# kind: files
# holds: all, landlock1, landlock2, nolandlock, noseccomp, mounts/user
# passes: mounts/root, neither
# why: A wall of mounts shows the folders of all runs. Each has a random name
#   that a run cannot learn; this probe was told.
# unconfined: passed

with attempt("a file in another run's folder"):
    put(C["sibling_work"] + f"/planted-{os.getpid()}.txt")
