# Reaches the call that sets capabilities, with those that it has.
# kind: identity
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter refuses the call; the kernel grants nothing new by it.
# unconfined: passed

with attempt("the kernel agreed"):
    head, data = struct.pack("Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    call((125, 90), head, data)
    call((126, 91), head, data)
