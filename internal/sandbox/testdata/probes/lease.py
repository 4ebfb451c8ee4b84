# Takes a lease on a file, which delays whoever opens it (F_SETLEASE): the
# server, when it collects the file.
# kind: signals
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

import fcntl

with attempt("a lease on a file"):
    put("mine.txt")
    fcntl.fcntl(os.open("mine.txt", os.O_RDONLY), 1024, fcntl.F_RDLCK)
