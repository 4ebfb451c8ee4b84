# Searches the host, /proc, every object and all of its memory for the name of
# another run's folder, and lists it.
# kind: files
# told: nothing
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither/root
# passes: neither/user, lambda
# why: The folder of the runs' folders is the server's. Only another user, which
#   root gives its snippets, keeps it from being listed when both Landlock and
#   the filter are missing; and without prctl(2), /proc tells each run's folder.
# unconfined: passed

with attempt("") as hunter:
    hunter.won = "found by " + hunted(os.listdir)
