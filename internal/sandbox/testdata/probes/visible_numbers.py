# Its own number and that of its template, and so about how many processes the
# host has made.
# kind: exposure
# seen: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# why: getpid(2) and getppid(2) stay open; a namespace of its own would be one
#   more right that the server needs.
# unconfined: seen

with look("the number of its template"):
    if os.getpid() < 2 or os.getppid() < 2:
        raise Refused("numbers of a namespace of its own")
