# Exchanges a file of the work folder with one outside.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("two files exchanged", errno.EXDEV, errno.EINVAL):
    put("mine.txt")
    call((316, 276), -100, b"mine.txt", -100, os.fsencode(C["outside"] + "/secret.txt"), 2)
