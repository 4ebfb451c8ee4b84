# Reads a file of another run whose path it knows.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file of another run"):
    see(C["sibling_work"] + "/secret.txt")
