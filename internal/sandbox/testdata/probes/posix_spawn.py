# Starts a program as the C library does it.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock leaves a run nothing to execute. Without it and the filter any
#   program runs, as the same user and without new privileges.
# unconfined: passed

with attempt("a program was started"):
    os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-I", "-c", ""], {}), 0)
