# Changes the flags that a file system keeps with a file.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

import fcntl

with attempt("flags of a file"):
    put("mine.txt")
    try:
        fcntl.ioctl(os.open("mine.txt", os.O_RDONLY), 0x40086602, struct.pack("l", 0x40))  # FS_IOC_SETFLAGS, no dump
    except OSError as e:
        if e.errno not in (errno.ENOTTY, errno.EOPNOTSUPP):  # it asked a file system that has none
            raise
