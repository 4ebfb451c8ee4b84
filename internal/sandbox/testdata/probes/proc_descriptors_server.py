# Lists the server's descriptors.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the server's descriptors"):
    os.listdir(f"/proc/{C['server']}/fd")
