# Watches a file outside (inotify).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock does not look at watches. They
#   tell that a file was used, not what it holds.
# unconfined: passed

with attempt("a watch on a file outside"):
    call((254, 27), call((294, 26), 0), os.fsencode(C["outside"] + "/secret.txt"), 2)
