# Starts a program as the C library does it.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Only the filter refuses it. Where it is missing, the server ends what a
#   run leaves before it answers.
# unconfined: passed

with attempt("a program was started"):
    os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-I", "-c", ""], {}), 0)
