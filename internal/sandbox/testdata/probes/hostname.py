# Names a host, in namespaces of its own.
# kind: namespaces
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("another host name"):
    call((272, 97), 0x10000000 | 0x4000000)
    call((170, 161), b"probe", 5)
