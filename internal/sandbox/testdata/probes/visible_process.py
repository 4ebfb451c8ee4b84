# Learns whether a process with a given number exists (getsid).
# kind: visible
# passes: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# why: Calls that ask for the session of a process stay open. They tell that
#   it exists.
# unconfined: passed

with attempt("another run exists"):
    os.getsid(C["sibling"])
