# Enters the kernel as a 32-bit program does (int 0x80), where every call has
# another number.
# kind: entries
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter tells the ways into the kernel apart.
# unconfined: passed

with attempt("the 32-bit entry answered"):
    machine_code(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # getpid is 20 there
