# Forks by the 32-bit entry: number 2 there, which is open for a 64-bit
# program.
# kind: entries
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("the 32-bit entry made a process"):
    reap(machine_code(b"\xb8\x02\x00\x00\x00\xcd\x80\xc3"))
