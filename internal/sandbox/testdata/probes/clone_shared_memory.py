# Looks like a thread to a careless filter: clone(2) with CLONE_VM, but a
# process of its own.
# kind: processes
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Where it is missing, the server ends what a
#   run leaves before it answers.
# unconfined: passed

with attempt("a second process ran in this one's memory"):
    # clone(CLONE_VM | CLONE_VFORK | SIGCHLD); the child exits at once, the parent returns its id
    reap(machine_code(b"\xbf\x11\x41\x00\x00\x31\xf6\x31\xd2\x45\x31\xd2\x45\x31\xc0\xb8\x38\x00\x00\x00\x0f\x05"
                      b"\x48\x85\xc0\x75\x09\x31\xff\xb8\x3c\x00\x00\x00\x0f\x05\xc3"))
