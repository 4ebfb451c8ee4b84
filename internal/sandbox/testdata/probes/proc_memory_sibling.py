# Opens another run's memory as a file.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run's memory is open"):
    os.open(f"/proc/{C['sibling']}/mem", os.O_RDWR)
