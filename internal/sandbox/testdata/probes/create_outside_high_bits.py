# Makes a file outside, with a bit in the upper half of the flags, which the
# kernel ignores.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a new file outside"):
    call((257, 56), -100, os.fsencode(C["outside"] + "/new.txt"), 1 << 40 | 0o101, 0o600)
