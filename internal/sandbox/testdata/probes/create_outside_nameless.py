# Makes a file outside that has no name yet (O_TMPFILE).
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a file without a name outside"):
    os.open(C["outside"], os.O_TMPFILE | os.O_RDWR, 0o600)
