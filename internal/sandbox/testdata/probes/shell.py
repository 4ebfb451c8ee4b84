# Starts a shell with subprocess.
# kind: processes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: passed

import subprocess

with attempt("a shell answered"):
    if subprocess.run(["/bin/sh", "-c", "echo here"], stdout=subprocess.PIPE).stdout != b"here\n":
        raise Refused("the shell did not answer")
