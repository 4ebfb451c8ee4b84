# Where on the host the server keeps the folders of its runs.
# kind: exposure
# seen: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# why: It is a part of the path of its own folder.
# unconfined: seen

with look("the path of the server's folder"):
    if os.path.dirname(os.path.dirname(os.getcwd())) != C["base"]:
        raise Refused("another path")
