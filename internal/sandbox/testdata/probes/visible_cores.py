# How many cores it may use, and on which one it is.
# kind: exposure
# seen: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# why: A process may ask it about itself: os.cpu_count and pools of threads are
#   made by it.
# unconfined: seen

with look("the cores"):
    if not os.sched_getaffinity(0) or libc.sched_getcpu() < 0:
        raise Refused("no core")
