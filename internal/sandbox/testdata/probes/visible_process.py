# Whether a process with a given number exists, whose it is, since when and with
# how many threads, by the folder that /proc has for it.
# kind: exposure
# hidden: mounts/root
# seen: all, landlock1, landlock2, nolandlock, noseccomp, neither, mounts/user
# why: stat(2) stays open and Landlock does not look at it. A wall of mounts has
#   no /proc.
# unconfined: seen

with look("another run is there"):
    if os.stat(f"/proc/{C['sibling']}").st_uid != os.getuid() or os.stat(f"/proc/{C['sibling']}/task").st_nlink < 3:
        raise Refused("it is not what it is")
