# Reads the host's load and how much memory is free (sysinfo).
# kind: visible
# passes: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# why: The call stays open: it is how programs find out how much memory there
#   is.
# unconfined: passed

with attempt("the host's load"):
    call((99, 179), ctypes.create_string_buffer(128))
