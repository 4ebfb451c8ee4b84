# Moves its own work folder away, from under the server's eyes.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("its own folder has another name", errno.EXDEV):
    os.rename(os.getcwd(), os.getcwd() + "-moved")
