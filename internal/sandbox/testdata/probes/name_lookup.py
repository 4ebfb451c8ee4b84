# Looks up a name, by which data can leave even where nothing can connect.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("a name was looked up"):
    try:
        socket.gethostbyname("localhost")
    except socket.gaierror as e:
        raise Refused("no resolver") from e
