# Reads the server's environment, where a careless operator keeps keys.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the server's environment"):
    see(f"/proc/{C['server']}/environ")
