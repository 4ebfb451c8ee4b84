# Where a symbolic link outside points, which may be a text of any kind.
# kind: exposure
# hidden: mounts/root
# seen: all, landlock1, landlock2, nolandlock, noseccomp, neither, mounts/user
# why: readlink(2) stays open, since paths with links in them are resolved by
#   it, and Landlock does not look at it. A wall of mounts has nothing outside
#   to show.
# unconfined: seen

with look("where a link outside points"):
    if os.readlink(C["outside"] + "/pointer") != "a place that a link tells":
        raise Refused("another place")
