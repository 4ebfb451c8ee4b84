# Takes from the pool of random numbers that everybody waits for
# (GRND_RANDOM).
# kind: kernel
# holds: all, landlock1, landlock2, mounts, nolandlock
# passes: noseccomp, neither
# why: Only the filter keeps this part of the kernel out of reach. It gives no
#   right that the user has not.
# unconfined: passed

with attempt("numbers from the pool", errno.EINVAL):
    os.getrandom(1, os.GRND_RANDOM | os.GRND_NONBLOCK)
