# Opens its own memory as a file, by which read-only pages can be written.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock opens no file of /proc; without it and the filter /proc shows
#   what it shows to every process of this user. The server is closed to its
#   own user too.
# unconfined: passed

with attempt("its own memory is open"):
    os.open("/proc/self/mem", os.O_RDWR)
