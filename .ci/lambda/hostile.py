"""Code that got round the guard, against a server in a container: what does it
find, and what does it leave?

    hostile.py allow|refuse URL PID

PID is the server's process id on this side, whose /proc shows the container.
"""

import collections
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
        print("      " + str(seen)[:4000])


class Process:
    """A process of the container, as /proc of this side shows it."""

    def __init__(self, pid):
        place = pathlib.Path("/proc", str(pid))
        stat = (place / "stat").read_text()
        fields = stat.rsplit(")", 1)[1].split()
        self.pid, self.state, self.parent = pid, fields[0], int(fields[1])
        self.age = float(pathlib.Path("/proc/uptime").read_text().split()[0]) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
        self.command = (place / "cmdline").read_text(errors="replace").replace("\0", " ")[:80] or stat[stat.index("("):stat.rindex(")") + 1]
        self.depth = 0  # 1 is the template's, 2 its children's; more has nobody but a run that forks

    def dead(self):
        """Nothing of it is left but its number, until the server takes it."""
        return self.state in "ZX"

    def __repr__(self):
        return f"\n      {self.pid} {self.state} parent {self.parent} depth {self.depth} age {self.age:.2f} s: {self.command}"


def space(number):
    try:
        return os.readlink(f"/proc/{number}/ns/pid")
    except OSError:
        return None


def family():
    """The processes that came from the server. An orphan's parent is the server too, since that is the
    container's first; one whose parent is outside was brought in by somebody, as by docker exec."""
    inside, found = space(pid), {}
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != pid and space(name) == inside:
            try:
                found[int(name)] = Process(int(name))
            except OSError:
                pass  # it is gone
    for p in found.values():
        top, p.depth = p, 1
        while top.parent in found and p.depth < len(found):
            top, p.depth = found[top.parent], p.depth + 1
        if top.parent != pid and space(top.parent) not in (None, inside):
            p.depth = 0
    return [p for p in found.values() if p.depth]


def excess(now, before):
    """The depths at which there are more than before. They are counted one by one: what a run left must not
    pass for a waiting child that is missing."""
    were, are = (collections.Counter(p.depth for p in some) for some in (before, now))
    return +(are - were)


def at_rest():
    """The processes once the same have been there for a second, all of them alive."""
    now, since, end = family(), time.monotonic(), time.monotonic() + 20
    while time.monotonic() < min(since + 1, end):
        time.sleep(0.05)
        last, now = now, family()
        if {p.pid for p in now} != {p.pid for p in last} or any(p.dead() for p in now):
            since = time.monotonic()
    return now


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
before = at_rest()
before_files = files()

found = execute(SEARCH)
text = json.dumps(found)
check("no credential can be read", found["outcome"] in ("OK", "ERROR") and not any(s in text for s in SECRETS), found["stdout"])


def settled():
    """The processes, once none is too many. Where a run can leave none, one may be too many for a moment:
    its child goes and the next one comes, in any order, and children that were made in a rush go. Where it
    can, only the dead may be, who are taken after the answer."""
    end = time.monotonic() + 5
    if mode == "allow":
        time.sleep(0.05)
    while True:
        now = family()
        alive = [p for p in now if not p.dead()]
        if not excess(now, before) or mode != "allow" and excess(alive, before) or time.monotonic() > end:
            return now
        time.sleep(0.05)


for round_ in range(3):
    left = execute(LEAVE)
    now = settled()
    check(f"round {round_}: no process is left when the answer is there",
          not excess(now, before), ("too many", dict(excess(now, before)), "now", now, "before", before, left))
    check(f"round {round_}: the guard was off", "is refused" not in left["stdout"], left["stdout"])
    check(f"round {round_}: no file is left", files() == before_files, files())
    after = execute("print('next')")
    check(f"round {round_}: the next run is OK", after["outcome"] == "OK" and after["stdout"] == "next\n", after)
    bomb = execute(FREE + "while True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n", 500)
    check(f"round {round_}: a fork bomb ends", bomb["outcome"] in ("TIMEOUT", "ERROR"), bomb)
    after = execute("print('next')")
    check(f"round {round_}: the run after it is OK", after["outcome"] == "OK" and after["stdout"] == "next\n", after)
time.sleep(1)
now = settled()
check("processes are back at their number", not excess(now, before), ("now", now, "before", before))
check("the answer said what the hostile code managed", "made" in left["stdout"], left)
print(f"{len(failures)} short")
sys.exit(1 if failures else 0)
