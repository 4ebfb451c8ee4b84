# Becomes another program by way of the dynamic loader, which opens the
# program itself.
# kind: programs
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

loader = "/lib64/ld-linux-x86-64.so.2" if X86 else "/lib/ld-linux-aarch64.so.1"
with attempt("exec returned", errno.ENOENT):
    os.execve(loader, [loader, sys.executable, "-I", "-c", "print('PASSED another program runs')"], {})
