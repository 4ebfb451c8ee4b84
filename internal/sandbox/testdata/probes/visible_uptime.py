# How long the host has been up.
# kind: exposure
# seen: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# why: The clocks stay open, and two of them begin with the host.
# unconfined: seen

with look("how long the host has been up"):
    if time.clock_gettime(time.CLOCK_BOOTTIME) <= 0:
        raise Refused("a time that cannot be")
