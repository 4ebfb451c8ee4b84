# Becomes another program: Python again, without the guard.
# kind: programs
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock leaves a run nothing to execute. Without it and the filter any
#   program runs, as the same user and without new privileges.
# unconfined: passed

os.set_inheritable(1, True)
with attempt("exec returned"):
    os.execve(sys.executable, [sys.executable, "-I", "-c", "print('PASSED another program runs')"], {})
