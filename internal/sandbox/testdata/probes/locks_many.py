# Has the kernel remember many locks on parts of a file, which no limit
# counts.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it: what the kernel keeps is in no count.
# unconfined: passed

import fcntl

with attempt("the kernel remembers every lock", errno.EINVAL):
    lock = lambda at: struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, at, 1, 0)
    for at in range(0, 2000, 2):
        fcntl.fcntl(0, fcntl.F_SETLK, lock(at))
    seen = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 1998, 1, 0)
    if struct.unpack("hhqqi4x", fcntl.fcntl(0, 36, seen))[0] == fcntl.F_UNLCK:  # F_OFD_GETLK
        raise Refused("no lock")
