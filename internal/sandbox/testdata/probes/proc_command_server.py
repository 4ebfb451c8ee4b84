# Reads the server's command line, which any user may.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the server's command line"):
    see(f"/proc/{C['server']}/cmdline")
