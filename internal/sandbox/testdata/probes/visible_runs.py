# When another run of this server last came or went, by the times of the folder
# that holds their folders.
# kind: exposure
# seen: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# why: stat(2) stays open, and a run knows the path of its own folder.
# unconfined: seen

with look("when a run last came or went"):
    if os.stat(C["base"]).st_mtime < time.time() - 3600:
        raise Refused("a time that cannot be")
