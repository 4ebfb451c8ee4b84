# Puts a file into the folder of another run.
# kind: files
# holds: all, landlock1, landlock2, nolandlock, noseccomp, mounts/user
# named: mounts/root
# passes: neither
# why: Without Landlock and the filter only permissions count, and both runs
#   have the same user.
# unconfined: passed

with attempt("a file in another run's folder"):
    put(C["sibling_work"] + f"/planted-{os.getpid()}.txt")
