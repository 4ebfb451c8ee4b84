# Asks how large and how full the disk is (statfs).
# kind: knowledge
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the question: Landlock does not look at it.
# unconfined: passed

with attempt("the room on the disk"):
    call((137, 43), b"/", ctypes.create_string_buffer(256))
