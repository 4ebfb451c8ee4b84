# Becomes another program: Python again, without the guard.
# kind: programs
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("exec returned"):
    os.execve(sys.executable, [sys.executable, "-I", "-c", "print('PASSED another program runs')"], {})
