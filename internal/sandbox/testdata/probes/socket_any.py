# Opens a socket of any of 64 families, in any of six types.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: Landlock speaks of TCP's bind and connect,
#   and of named sockets.
# unconfined: passed

with attempt("a socket of some family"):
    refused = set()
    for family in range(64):
        for kind in (1, 2, 3, 4, 5, 10):
            try:
                call((41, 198), family, kind, 0)
            except OSError as e:
                refused.add(e.errno)
            else:
                break
        else:
            continue
        break
    else:
        if refused != {errno.EPERM}:
            raise OSError(errno.EIO, "the kernel looked at some of them")
        raise OSError(errno.EPERM, "all refused")
