# Makes a file outside that has no name yet (O_TMPFILE).
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file without a name outside"):
    os.open(C["outside"], os.O_TMPFILE | os.O_RDWR, 0o600)
