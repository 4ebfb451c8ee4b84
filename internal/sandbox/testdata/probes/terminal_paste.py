# Pastes into the console (TIOCLINUX).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

import fcntl

with attempt("the kernel looked for a console"):
    try:
        fcntl.ioctl(1, 0x541C, b"\x03")
    except OSError as e:
        if e.errno != errno.ENOTTY:
            raise
