# Reaches reboot(2), with numbers that mean nothing.
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (needs CAP_SYS_BOOT)

with attempt("the kernel looked at the numbers"):
    reach((169, 142), 0, 0, 0, 0)
