# Makes a named pipe in the work folder, for the server to wait at.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("a named pipe"):
    os.mkfifo("pipe")
