# Asks for a larger share of the processor.
# kind: limits
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_SYS_NICE)

with attempt("a larger share"):
    os.setpriority(os.PRIO_PROCESS, 0, -5)
