"""Code that got round the guard, against a server in a container: what does it
find, and what does it leave?

    hostile.py allow|refuse URL PID

PID is the server's process id on this side, whose /proc shows the container.
"""

import json
import os
import pathlib
import sys
import time
import urllib.request

mode, url, pid = sys.argv[1], sys.argv[2], int(sys.argv[3])
SECRETS = ("cnry-env", "cnry-akid", "cnry-secret", "cnry-token")
failures = []

# Switches the guard off from inside, as an attacker who has read its source can.
FREE = """
import sys, threading
threading.excepthook.__self__._armed = False
os = sys.modules["os"]
"""

SEARCH = FREE + """
import pathlib
print(dict(os.environ))
for p in pathlib.Path("/proc").glob("[0-9]*"):
    for name in ("environ", "cmdline", "mem"):
        try:
            with open(p / name, "rb") as f:
                print(name, f.read(100_000).replace(b"\\0", b" ").decode("utf-8", "replace")[:900])
        except (OSError, ValueError) as e:
            print(p, name, e)
"""

# Processes that leave their session, replace themselves for ever, and write where they can.
LEAVE = FREE + """
made = 0
for n in range(20):
    try:
        if os.fork() == 0:
            os.setsid()
            while True:
                try:
                    if os.fork() != 0:
                        os._exit(0)
                except OSError:
                    pass
        made += 1
    except OSError as e:
        print("fork:", e)
        break
for folder in ("/tmp", "/var/tmp", "/dev/shm", "/dev", "/run"):
    try:
        with open(folder + "/left-behind", "w") as f:
            f.write("x")
        print("wrote in", folder)
    except OSError as e:
        print(folder, e)
print("made", made)
"""


def execute(code, timeout_ms=5000):
    body = json.dumps({"code": code, "timeout_ms": timeout_ms}).encode()
    request = urllib.request.Request(url + "/execute", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def check(what, holds, seen):
    print(("ok    " if holds else "SHORT ") + what)
    if not holds:
        failures.append(what)
        print("      " + str(seen)[:600])


def family():
    """The processes of the container, but for the server: pid to state and name."""
    space = os.readlink(f"/proc/{pid}/ns/pid")
    found = {}
    for p in pathlib.Path("/proc").iterdir():
        try:
            if p.name.isdigit() and int(p.name) != pid and os.readlink(p / "ns/pid") == space:
                found[int(p.name)] = (p / "stat").read_text().rsplit(")", 1)[1].split()[0] + " " + (p / "comm").read_text().strip()
        except OSError:
            pass
    return found


def files():
    root = pathlib.Path(f"/proc/{pid}/root")
    return sorted(str(f.relative_to(root)) for d in ("tmp", "var/tmp", "dev/shm") if (root / d).is_dir() for f in (root / d).iterdir())


health = json.load(urllib.request.urlopen(url + "/health", timeout=10))
active = {layer["name"]: layer["active"] for layer in health["layers"]}
print("      " + json.dumps(active))
want = {"landlock": True, "seccomp": True, "prctl": True, "files": True} if mode == "allow" else \
    {"landlock": False, "mount": False, "seccomp": False, "prctl": False, "files": False, "sweep": True}
check("/health tells which layers hold", all(active.get(k) == v for k, v in want.items()), active)

for _ in range(3):
    execute("print(1)")
time.sleep(0.5)
before_files, before = files(), family()

found = execute(SEARCH)
text = json.dumps(found)
check("no credential can be read", found["outcome"] in ("OK", "ERROR") and not any(s in text for s in SECRETS), found["stdout"])

def settled():
    """The processes, once a child that can leave nothing has had time to be reaped, and children
    that were made in a rush to go."""
    now, end = family(), time.monotonic() + (5 if mode == "allow" else 0)
    while time.monotonic() < end:
        time.sleep(0.05)  # also at first: a run's child goes and the next one comes, in any order
        now = family()
        if len(now) <= len(before):
            break
    return now


for round_ in range(3):
    left = execute(LEAVE)
    now = settled()
    check(f"round {round_}: no process is left when the answer is there",
          len(now) <= len(before) and not any(s.startswith("R") and "python" not in s for s in now.values()), (before, now, left))
    check(f"round {round_}: the guard was off", "is refused" not in left["stdout"], left["stdout"])
    check(f"round {round_}: no file is left", files() == before_files, files())
    after = execute("print('next')")
    check(f"round {round_}: the next run is OK", after["outcome"] == "OK" and after["stdout"] == "next\n", after)
    bomb = execute(FREE + "while True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n", 500)
    check(f"round {round_}: a fork bomb ends", bomb["outcome"] in ("TIMEOUT", "ERROR"), bomb)
    after = execute("print('next')")
    check(f"round {round_}: the run after it is OK", after["outcome"] == "OK" and after["stdout"] == "next\n", after)
time.sleep(1)
check("processes are back at their number", len(settled()) <= len(before), (before, family()))
check("the answer said what the hostile code managed", "made" in left["stdout"], left)
print(f"{len(failures)} short")
sys.exit(1 if failures else 0)
