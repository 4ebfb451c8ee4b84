# Becomes another program by a descriptor and an empty path, so that no name
# is seen.
# kind: programs
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock leaves a run nothing to execute. Without it and the filter any
#   program runs, as the same user and without new privileges.
# unconfined: passed

os.set_inheritable(1, True)
with attempt("execveat returned"):
    fd = os.open(sys.executable, os.O_PATH)
    path = sys.executable.encode() + b"\0"
    arguments = [path, b"-I\0", b"-c\0", b"print('PASSED another program runs')\0"]
    vector = (ctypes.c_char_p * 5)(*arguments, None)
    call((322, 281), fd, b"", vector, (ctypes.c_char_p * 1)(None), 0x1000)
