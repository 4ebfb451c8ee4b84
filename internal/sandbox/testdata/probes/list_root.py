# Lists the root of the host's files.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the host's folders"):
    os.listdir("/")
