# Opens a file outside with openat2(2), whose flags lie in memory where a
# filter cannot see them.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a new file outside"):
    call((437, 437), -100, os.fsencode(C["outside"] + "/new.txt"), struct.pack("QQQ", 0o101, 0o600, 0), 24)
