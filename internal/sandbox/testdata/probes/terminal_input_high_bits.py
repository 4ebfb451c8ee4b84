# Puts a character into a terminal's input, with a bit in the upper half of
# the command, which the kernel ignores.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("the kernel looked for a terminal"):
    reach((16, 29), 1, 1 << 32 | 0x5412, b"x")
