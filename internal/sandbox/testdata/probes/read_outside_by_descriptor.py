# Opens a folder outside as a mere place (O_PATH), which no file rule forbids,
# and a file from there.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a file outside"):
    fd = os.open(C["outside"], os.O_PATH)
    os.open("secret.txt", os.O_RDONLY, dir_fd=fd)
