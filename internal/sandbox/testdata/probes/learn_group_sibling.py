# Asks for the process group of another run, which tells that the process
# exists.
# kind: knowledge
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the question: the kernel answers it to everybody.
# unconfined: passed

with attempt("another run exists"):
    os.getpgid(C["sibling"])
