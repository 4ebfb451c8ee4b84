# Empties a file outside by its path; file rules before Landlock ABI 3 do not
# see it.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file outside is empty"):
    os.truncate(C["outside"] + "/secret.txt", 0)
