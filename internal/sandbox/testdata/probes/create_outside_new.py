# Opens a file outside with openat2(2), whose flags lie in memory where a
# filter cannot see them.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a new file outside"):
    call((437, 437), -100, os.fsencode(C["outside"] + "/new.txt"), struct.pack("QQQ", 0o101, 0o600, 0), 24)
