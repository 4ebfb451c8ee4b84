# Reads a file of its own user outside the work folder.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a file outside"):
    see(C["outside"] + "/secret.txt")
