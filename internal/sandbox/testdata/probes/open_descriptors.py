# Looks for descriptors beside the streams and the job channel.
# kind: channel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a descriptor that nobody meant to give"):
    for fd in range(4, 1024):
        try:
            os.fstat(fd)
        except OSError:
            continue
        break
    else:
        raise Refused("none is open")
