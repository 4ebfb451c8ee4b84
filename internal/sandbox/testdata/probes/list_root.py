# Lists the root of the host's files.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Without Landlock and the filter only permissions count, and the file
#   belongs to the same user or is open to all.
# unconfined: passed

with attempt("the host's folders"):
    if not {"home", "root", "var"} & set(os.listdir("/")):
        raise Refused("it is not the host's")
