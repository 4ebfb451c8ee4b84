# Whether a file outside exists, its size and its times.
# kind: exposure
# hidden: mounts/root
# seen: all, landlock1, landlock2, nolandlock, noseccomp, neither, mounts/user
# why: stat(2) stays open, since Python cannot start without it and Landlock
#   does not look at it. A wall of mounts has nothing outside to show.
# unconfined: seen

with look("a file outside and its size"):
    if os.stat(C["outside"] + "/secret.txt").st_size != len("a secret outside\n"):
        raise Refused("another size")
