# Learns whether a process with a given number exists (getsid).
# kind: visible
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run exists"):
    os.getsid(C["sibling"])
