# Reads the host's list of users.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("/etc/passwd"):
    see("/etc/passwd")
