"""What is rehearsed: in the template, so that code is specialised before the fork, and in each child
while it waits, so that the pages of a run are its own before the job comes.
"""

import builtins
import io

from cloche_run import Snippet
from cloche_verdict import Failure, report

REHEARSALS = 20  # enough for the interpreter to have specialised all that runs

PROGRAM = (
    "import json, re, collections, datetime, dataclasses, math, random, textwrap\n"
    "@dataclasses.dataclass\nclass P:\n    x: int = 1\n"
    "q = json.loads(json.dumps({'a': [1, 2.5, None, P().x]}))\n"
    "re.sub(r'(\\w+)-(\\d+)', r'\\2', 'warm-42'), collections.Counter('warm'), datetime.datetime.now().isoformat()\n"
    "[f'{i:03d}' for i in range(50)]\n"
)


class Rehearsal:
    """Short programs that touch what runs touch."""

    def __init__(self, run, packages):
        self._foreign = run.ledger.foreign
        self._snippet = Snippet(builtins)
        # Not __main__: what looks its module up by name must not find the user's.
        self._snippet.main.__name__ = "rehearsal"
        self._sink = io.TextIOWrapper(io.BytesIO(), "utf-8", line_buffering=True)
        self.stages = (self.program, self.trouble, self.heap, packages.rehearse)

    def program(self):
        repr(self._snippet.run(*self._snippet.compile(PROGRAM)))
        print("warm", 1, 2.5, file=self._sink)

    def trouble(self):
        try:
            exec(compile("def f():\n    1/0\nf()\n", "<warm>", "exec"), {"__builtins__": builtins})
        except ZeroDivisionError as e:
            Failure(e, None, self._foreign).words()
        report("completed", 0, "1")

    def heap(self):
        [bytearray(4096) for _ in range(16)]
        [[i] for i in range(1000)]

    def in_template(self):
        for _ in range(REHEARSALS):
            for stage in self.stages:
                stage()

    def in_child(self, poller):
        """Until the job arrives."""
        for stage in self.stages:
            if poller.poll(0):
                return
            stage()
