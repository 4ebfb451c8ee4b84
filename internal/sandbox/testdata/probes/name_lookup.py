# Looks up a name, by which data can leave even where nothing can connect.
# kind: sockets
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: Landlock hides the files that name resolution begins with. A program
#   that brings its own resolver gets through it; see ask_udp.
# unconfined: passed

with attempt("a name was looked up"):
    try:
        socket.gethostbyname("localhost")
    except socket.gaierror as e:
        raise Refused("no resolver") from e
