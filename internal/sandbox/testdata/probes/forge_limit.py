# Says that a limit ended it which only the server can see, and in words that
# are for the server alone.
# kind: verdict
# lies: yes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (there is no verdict to forge)

with attempt("a lie"):
    key = token()
    work()
    for limit in ("deadline", "cpu_limit", "thread_limit", "signal", "abandoned", "sandbox_failure"):
        os.write(3, key + b"B" + json.dumps({"rule": limit, "target": limit, "file": "x", "line": 1}).encode())
    tell(key, end="sandbox_failure", refused="deadline", blocked_count=5, limit="cpu_limit", exit_code=124)
    ended()
