# Opens the template's memory as a file.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the template's memory is open"):
    os.open(f"/proc/{C['template']}/mem", os.O_RDWR)
