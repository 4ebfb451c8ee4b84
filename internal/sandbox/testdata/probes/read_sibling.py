# Reads a file of another run whose path it knows.
# kind: files
# holds: all, landlock1, landlock2, nolandlock, noseccomp, mounts/user
# named: mounts/root
# passes: neither
# why: Without Landlock and the filter only permissions count, and both runs
#   have the same user.
# unconfined: passed

with attempt("a file of another run"):
    see(C["sibling_work"] + "/secret.txt")
