# Enters the kernel as an x32 program does, with a bit set in the number.
# kind: entries
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: either (few kernels are built with it, and those answer only
#   when told to)

with attempt("the x32 entry answered"):
    machine_code(b"\xb8\x27\x00\x00\x40\x0f\x05\xc3")  # getpid
