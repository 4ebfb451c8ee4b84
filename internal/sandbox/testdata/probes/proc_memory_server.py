# Opens the server's memory as a file.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the server's memory is open"):
    os.open(f"/proc/{C['server']}/mem", os.O_RDWR)
