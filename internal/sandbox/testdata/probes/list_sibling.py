# Lists the folder of another run.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run's files"):
    os.listdir(C["sibling_work"])
