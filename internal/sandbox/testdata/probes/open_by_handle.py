# Opens a file by a handle that it made up.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_DAC_READ_SEARCH)

with attempt("the kernel looked for the file"):
    fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    reach((304, 265), fd, struct.pack("Ii120x", 8, 1), 0)
