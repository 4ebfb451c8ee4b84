# Makes a file outside the work folder with creat(2), which has no flags to
# look at.
# kind: files
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a new file outside"):
    call((85, None), os.fsencode(C["outside"] + "/new.txt"), 0o600)
