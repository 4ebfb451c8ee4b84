# Goes to a folder outside and reads a file there by its name alone.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a file outside"):
    os.chdir(C["outside"])
    see("secret.txt")
