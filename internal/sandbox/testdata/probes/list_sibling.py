# Lists the folder of another run.
# kind: files
# holds: all, landlock1, landlock2, nolandlock, noseccomp, mounts/user
# named: mounts/root
# passes: neither
# why: Without Landlock and the filter only permissions count, and both runs
#   have the same user.
# unconfined: passed

with attempt("another run's files"):
    os.listdir(C["sibling_work"])
