# Puts a file into the folder of another run.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file in another run's folder"):
    put(C["sibling_work"] + f"/planted-{os.getpid()}.txt")
