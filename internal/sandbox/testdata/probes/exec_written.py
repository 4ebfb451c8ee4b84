# Becomes a program that it wrote into its own work folder.
# kind: programs
# machine: x86_64
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock leaves a run nothing to execute. Without it and the filter any
#   program runs, as the same user and without new privileges.
# unconfined: passed

os.set_inheritable(1, True)
with attempt("exec returned"):
    fd = os.open("program", os.O_WRONLY | os.O_CREAT, 0o700)
    os.write(fd, program(b"PASSED a written program ran\n"))
    os.close(fd)
    os.execve("./program", ["program"], {})
