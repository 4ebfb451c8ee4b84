# Has its output pipe keep each write apart, so that the server reads it byte
# by byte (O_DIRECT).
# kind: channel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses it. It costs the run as much as the server.
# unconfined: passed

import fcntl

with attempt("a pipe of packets"):
    fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_DIRECT)
    fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) & ~os.O_DIRECT)
