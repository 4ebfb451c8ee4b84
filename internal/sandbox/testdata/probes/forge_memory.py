# Uses much memory, then has its peak forgotten: by /proc, and by becoming
# another program, which then tells the verdict.
# kind: verdict
# lies: yes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp
# passes: neither
# why: A new program has a peak of its own. Landlock leaves a run nothing to
#   execute; without it and the filter the figure is that of the last program.
# unconfined: held (there is no verdict to forge)

with attempt("a lie"):
    key = token()
    work()
    try:
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")
    except OSError:
        pass
    then = (f"import json, os, time; os.write(3, bytes.fromhex('{key.hex()}') + b'R' + json.dumps("
            "dict(end='completed', exit_code=0, value='LIE')).encode()); time.sleep(60)")
    try:
        os.set_inheritable(3, True)
        os.execve(sys.executable, [sys.executable, "-I", "-c", then], {})
    except OSError:
        pass
    tell(key)
    ended()
