# Empties a file outside while it opens it for reading only; file rules before
# Landlock ABI 3 see a reader.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a file outside is empty"):
    os.open(C["outside"] + "/secret.txt", os.O_RDONLY | os.O_TRUNC)
