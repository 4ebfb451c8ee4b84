# The host's name, and the kernel's version.
# kind: exposure
# seen: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# why: uname(2) stays open, since Python asks it for platform and os.uname.
# unconfined: seen

with look("the host's name"):
    if os.uname().nodename != C["host"]:
        raise Refused("another name")
