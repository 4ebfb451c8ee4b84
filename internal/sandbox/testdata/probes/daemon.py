# Leaves the session with two forks, so that nobody waits for what stays
# behind.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. Where it is missing, the server ends what a
#   run leaves before it answers.
# unconfined: passed

with attempt("a process of another session stayed behind"):
    first = os.fork()
    if first == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(8):
                try:
                    os.close(fd)
                except OSError:
                    pass
            import time
            time.sleep(0.2)
        os._exit(0)
    os.waitpid(first, 0)
