# Makes a semaphore that outlives it (POSIX), a file in /dev/shm.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: It is a file, and Landlock opens none outside. What is left stays until
#   someone removes it.
# unconfined: passed

with attempt("a semaphore"):
    name = f"/probe-{os.getpid()}".encode()
    libc.sem_open.restype = ctypes.c_void_p
    if libc.sem_open(name, os.O_CREAT, 0o600, 1) is None:
        raise OSError(ctypes.get_errno(), "sem_open")
    libc.sem_unlink(name)
