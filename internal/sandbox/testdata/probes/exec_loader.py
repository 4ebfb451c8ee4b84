# Becomes another program by way of the dynamic loader, which opens the
# program itself.
# kind: programs
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock leaves a run nothing to execute. Without it and the filter any
#   program runs, as the same user and without new privileges.
# unconfined: passed

loader = "/lib64/ld-linux-x86-64.so.2" if X86 else "/lib/ld-linux-aarch64.so.1"
os.set_inheritable(1, True)
with attempt("exec returned"):
    os.execve(loader, [loader, sys.executable, "-I", "-c", "print('PASSED another program runs')"], {})
