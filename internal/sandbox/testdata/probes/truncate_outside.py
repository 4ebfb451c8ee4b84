# Empties a file outside by its path; file rules before Landlock ABI 3 do not
# see it.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a file outside is empty"):
    os.truncate(C["outside"] + "/secret.txt", 0)
