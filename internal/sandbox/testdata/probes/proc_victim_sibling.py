# Makes the kernel choose another run first when memory runs out.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock opens no file of /proc; without it and the filter /proc shows
#   what it shows to every process of this user. The server is closed to its
#   own user too.
# unconfined: passed

with attempt("another run dies first"):
    fd = os.open(f"/proc/{C['sibling']}/oom_score_adj", os.O_WRONLY)
    os.write(fd, b"1000")
