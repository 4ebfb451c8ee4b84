# Sets its own limit on dumps to 0, with which a crash starts the program that
# core_pattern names, as root and outside of all walls.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps the limit at 1, which is what stops the kernel.
#   Whether core_pattern names a program is up to the host.
# unconfined: passed

with attempt("a crash would start a program"):
    call((302, 261), 0, 4, struct.pack("QQ", 0, 0), None)
