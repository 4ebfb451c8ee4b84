"""What is rehearsed: in the template, so that code is specialised before the fork, and in each child
while it waits, so that the pages of a run are its own before the job comes.
"""

import builtins
import io
import select
from functools import partial

from cloche_run import JOB, Snippet
from cloche_verdict import Failure, report

REHEARSALS = 20  # enough for the interpreter to have specialised all that runs

# Milliseconds without a job, after which there is time for manners, then for the rest, and between its
# stages. To make pages its own costs a child what several runs cost, and holds up those beside it: where
# jobs follow fast it does without.
SOON, LATER, PAUSE = 2, 30, 2

# What programs often do, a little of each; a blank line stands where a job may come in.
PROGRAM = r'''
import collections, datetime, itertools, json, math, random, re, statistics, string, textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

@dataclass
class Point:
    x: int
    y: float = 2.5
    tags: list = field(default_factory=list)
    def far(self) -> float:
        return math.hypot(self.x, self.y)

def mean(*numbers, digits=2):
    return round(sum(numbers) / len(numbers), digits) if numbers else None

points = [Point(1), Point(2, tags=["a"])]
table = {p.x: p.far() for p in points if p.y > 1}

text = json.dumps({"a": [1, 2.5, None, True], "b": {"c": "\u00e9"}}, indent=2, sort_keys=True)
data = json.loads(text), json.dumps({"n": points[0].x, "s": "t"})
re.purge()  # else the patterns are compiled only once, in the template
words = re.sub(r"(\w+)-(\d+)", r"\2", "warm-42").split(), re.findall(r"[a-z]+", "a1b2")

common = collections.Counter("cloche").most_common(1), collections.defaultdict(int)["x"]
then = datetime.datetime(2020, 2, 3, 4, 5) + datetime.timedelta(days=1)
stamp = then.isoformat(), then.strftime("%Y-%m-%d"), datetime.date.today().year

lines = [f"{n:03d} {n / 3:>8.2f}" for n in range(30)]
best = sorted(((-n) % 7, str(n)) for n in range(20))[:3], max(table, key=table.get), mean(1, 2, 3)
try:
    {}["missing"]
except KeyError as e:
    reason = repr(e)
"\n".join(lines).title(), list(zip(range(3), "abc")), set(range(4)) | {9}, random.random()
'''


class Rehearsal:
    """Short programs that touch what runs touch."""

    def __init__(self, run, packages):
        self._foreign, self._run = run.ledger.foreign, run
        self._snippet = Snippet(run.guarded)
        # Not __main__: what looks its module up by name must not find the user's.
        self._snippet.main.__name__ = "rehearsal"
        self._sink = io.TextIOWrapper(io.BytesIO(), "utf-8", line_buffering=True)
        self._parts = PROGRAM.strip().split("\n\n")
        self.stages = (self.manners, *(partial(self.part, n) for n in range(len(self._parts))), self.trouble, self.heap,
                       packages.rehearse)

    def manners(self):
        """What surrounds every run."""
        repr(self._snippet.run(*self._snippet.compile("print")))
        print("warm", 1, 2.5, file=self._sink)
        report("completed", 0, "1")
        self._run.rehearse()

    def part(self, n):
        self._snippet.run(*self._snippet.compile(self._parts[n]))

    def trouble(self):
        try:
            exec(compile("def f():\n    1/0\nf()\n", "<warm>", "exec"), {"__builtins__": builtins})
        except ZeroDivisionError as e:
            Failure(e, None, self._foreign).words()

    def heap(self):
        [bytearray(4096) for _ in range(16)]
        [[i] for i in range(1000)]

    def in_template(self):
        for _ in range(REHEARSALS):
            for stage in self.stages:
                stage()

    def prepare(self):
        self._poller = select.poll()
        self._poller.register(JOB, select.POLLIN)

    def in_child(self):
        """Until the job arrives."""
        if self._poller.poll(SOON):
            return
        pause = LATER
        for stage in self.stages:
            stage()
            if self._poller.poll(pause):
                return
            pause = PAUSE
