# Learns the path of another run's work folder, which opens nothing but is not
# to be known.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock opens no file of /proc; without it and the filter /proc shows
#   what it shows to every process of this user. The server is closed to its
#   own user too.
# unconfined: passed

with attempt("the path of another run's work folder"):
    os.readlink(f"/proc/{C['sibling']}/cwd")
