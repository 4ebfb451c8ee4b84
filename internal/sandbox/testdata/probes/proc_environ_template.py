# Reads the template's environment.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the template's environment"):
    see(f"/proc/{C['template']}/environ")
