# Becomes a program that lies only in memory (memfd_create, then execveat),
# where no file rule looks.
# kind: programs
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Landlock does not look at a program that is in no file; only the filter
#   refuses it.
# unconfined: passed

os.set_inheritable(1, True)
with attempt("execveat returned"):
    fd = call((319, 279), b"program", 0)
    os.write(fd, program(b"PASSED a program ran from memory\n"))
    call((322, 281), fd, b"", (ctypes.c_char_p * 2)(b"program", None), (ctypes.c_char_p * 1)(None), 0x1000)
