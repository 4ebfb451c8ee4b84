# Reads the host's files by the root folder of the template.
# kind: proc
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

with attempt("/etc/passwd"):
    see(f"/proc/{C['template']}/root/etc/passwd")
