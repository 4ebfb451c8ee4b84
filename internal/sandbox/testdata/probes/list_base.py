# Lists the folder that holds the runs' folders.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the names of the runs' folders"):
    os.listdir(C["base"])
