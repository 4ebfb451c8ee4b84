# Finds the token in its own memory, and tells a verdict with it that is false
# in every field that the server sees by itself, in the words of the answer and
# in those of the report.
# kind: verdict
# lies: yes
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (there is no verdict to forge)

with attempt("a lie"):
    key = token()
    work()
    false = {
        "id": "01FORGED", "outcome": "TIMEOUT", "reason": "deadline", "limit": "deadline", "signal": "SIGSEGV",
        "stdout": "LIE", "stderr": "LIE", "stdout_bytes": 10**15, "stderr_bytes": -1, "stdout_truncated": True,
        "stderr_truncated": True, "duration_ms": 0.001, "cpu_ms": -5, "peak_memory_bytes": 1, "cpu": 0, "peak": 0,
        "duration": 0, "status": 139, "files": [{"path": "../LIE", "size": 1, "content": "LIE"}], "files_omitted": 9,
        "blocked": [{"rule": "import_denied", "target": "LIE"}], "hint": "LIE", "token": "0" * 32, "fault": "LIE",
        "policy": None, "tenant": "another", "fds": [0, 1, 2],
    }
    tell(key, **false, **{name.upper(): value for name, value in false.items()})
    ended()
