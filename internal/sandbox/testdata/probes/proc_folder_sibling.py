# Finds another run's work folder by its process, and reads a file in it.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock opens no file of /proc; without it and the filter /proc shows
#   what it shows to every process of this user. The server is closed to its
#   own user too.
# unconfined: passed

with attempt("a file of another run"):
    see(f"/proc/{C['sibling']}/cwd/secret.txt")
