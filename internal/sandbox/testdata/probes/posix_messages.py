# Makes a message queue that outlives it (POSIX).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a message queue", errno.EMFILE):
    name = f"probe-{os.getpid()}".encode()
    call((240, 180), name, 0o102, 0o600, None)
    call((241, 181), name)
