# Leaves the process group of the template.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a process group of its own"):
    os.setpgid(0, 0)
