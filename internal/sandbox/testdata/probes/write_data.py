# Writes to the server's records.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the server's records"):
    put(C["data"] + "/cloche.db")
