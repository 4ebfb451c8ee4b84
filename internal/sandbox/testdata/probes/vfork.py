# Makes a second process with vfork(2), which borrows the memory of the first.
# kind: processes
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Where it is missing, the server ends what a
#   run leaves before it answers.
# unconfined: passed

with attempt("a second process ran in this one's memory"):
    # vfork; the child exits at once, the parent returns its id
    reap(machine_code(b"\xb8\x3a\x00\x00\x00\x0f\x05\x48\x85\xc0\x75\x09\x31\xff\xb8\x3c\x00\x00\x00\x0f\x05\xc3"))
