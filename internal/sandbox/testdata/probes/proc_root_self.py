# Reads the host's files by its own root folder.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("/etc/passwd"):
    see("/proc/self/root/etc/passwd")
