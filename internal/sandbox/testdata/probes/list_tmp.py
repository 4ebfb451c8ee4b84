# Lists the folder for temporary files.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the temporary files of others"):
    os.listdir("/tmp")
