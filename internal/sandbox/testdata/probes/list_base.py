# Lists the folder that holds the runs' folders.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither/root
# passes: neither/user
# why: The folder is the server's. Only another user, which root gives its
#   snippets, keeps it when both Landlock and the filter are missing.
# unconfined: passed

with attempt("the names of the runs' folders"):
    try:
        os.chmod(C["base"], 0o700)  # it is closed even to its owner
    except PermissionError:
        pass
    os.listdir(C["base"])
