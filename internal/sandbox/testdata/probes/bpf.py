# Reaches the kernel's virtual machine: looks up an entry of a map that does
# not exist.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("the kernel looked for the map"):
    reach((321, 280), 1, struct.pack("I4xQQQ96x", 0xFFFFFFFF, 0, 0, 0), 128)
