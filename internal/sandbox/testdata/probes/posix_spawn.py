# Starts a program as the C library does it.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a program was started"):
    os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-I", "-c", ""], {}), 0)
