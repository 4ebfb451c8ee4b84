# Learns the size of a file of another run, if it knows its path, whose last
# part is a random name.
# kind: visible
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the size of a file of another run"):
    os.stat(C["sibling_work"] + "/secret.txt")
