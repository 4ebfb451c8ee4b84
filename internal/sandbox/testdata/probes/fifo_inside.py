# Makes a named pipe in the work folder, for the server to wait at.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a named pipe"):
    os.mkfifo("pipe")
