# Opens a folder outside as a mere place (O_PATH), which no file rule forbids,
# and a file from there.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file outside"):
    fd = os.open(C["outside"], os.O_PATH)
    os.open("secret.txt", os.O_RDONLY, dir_fd=fd)
