# Reads a file outside by a symbolic link in the work folder.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file outside"):
    os.symlink(C["outside"] + "/secret.txt", "link")
    see("link")
