# Writes to the server's records.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither/root
# passes: neither/user
# why: The file is the server's. Only another user, which root gives its
#   snippets, keeps it when both Landlock and the filter are missing.
# unconfined: passed

with attempt("the server's records"):
    put(C["data"] + "/cloche.db")
