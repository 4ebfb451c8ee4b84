# Whether a file of another run exists, and its size, by a path that has a
# random name in it.
# kind: exposure
# seen: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# why: stat(2) stays open, and both runs have the same user. This look was told
#   the path; hunt_name_sibling shows that a run does not find it.
# unconfined: seen

with look("the size of a file of another run"):
    if os.stat(C["sibling_work"] + "/secret.txt").st_size == 0:
        raise Refused("another size")
