# Climbs out of the work folder.
# kind: files
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("/etc/passwd"):
    see("../" * 40 + "etc/passwd")
