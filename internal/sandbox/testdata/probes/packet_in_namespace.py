# Opens a raw network socket, in namespaces of its own.
# kind: namespaces
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. The capabilities count in the new namespace
#   alone; the danger is the kernel code that they open.
# unconfined: passed

with attempt("a raw socket"):
    call((272, 97), 0x10000000 | 0x40000000)
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
