# Reads a key in the home of the server's user.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a private key"):
    see(C["home"] + "/.ssh/id_ed25519")
