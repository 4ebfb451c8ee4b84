# Makes the kernel choose another run first when memory runs out.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another run dies first"):
    fd = os.open(f"/proc/{C['sibling']}/oom_score_adj", os.O_WRONLY)
    os.write(fd, b"1000")
