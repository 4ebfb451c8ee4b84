# Moves its own work folder away, from under the server's eyes.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither/root
# passes: neither/user
# why: The folder is the server's, and so open to snippets of the same user.
#   Root gives snippets another user.
# unconfined: passed

with attempt("its own folder has another name", errno.EXDEV):
    os.rename(os.getcwd(), os.getcwd() + "-moved")
