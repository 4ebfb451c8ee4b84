# Gives a file outside a second name in the work folder.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a file outside", errno.EXDEV):
    os.link(C["outside"] + "/secret.txt", "mine.txt")
    see("mine.txt")
