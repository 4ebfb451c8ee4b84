# Puts a character into a terminal's input (TIOCSTI); here there is none, and
# the question is whether the kernel looks.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

import fcntl

with attempt("the kernel looked for a terminal", errno.EIO):
    try:
        fcntl.ioctl(1, 0x5412, b"x")
    except OSError as e:
        if e.errno != errno.ENOTTY:
            raise
