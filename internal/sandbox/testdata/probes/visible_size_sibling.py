# Learns the size of a file of another run, if it knows its path, whose last
# part is a random name.
# kind: visible
# passes: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# why: stat(2) stays open, and both runs have the same user. The path has a
#   random part that a run cannot learn; this probe was told.
# unconfined: passed

with attempt("the size of a file of another run"):
    os.stat(C["sibling_work"] + "/secret.txt")
