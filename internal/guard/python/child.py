"""One child: confine itself, warm up, run one snippet, report, wait to be killed."""

import __future__

import ast
import atexit
import builtins
import gc
import io
import logging
import os
import resource
import select
import sys
import threading
import time
import types
import weakref
from json import loads

from cloche_audit import Paths, audit_hook
from cloche_imports import Policy, arm_imports, guarded_builtins, work_folder_hook
from cloche_kernel import close_to_others, die_with_parent
from cloche_refusal import SNIPPET, Ledger
from cloche_verdict import Failure, refusal_behind, report, unspeakable

JOB = 3  # the descriptor of the job channel
PACKET = 1 << 18  # above the largest packet that the channel carries
FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)

BALLAST = [bytearray(1 << 20)]  # memory for the report of a snippet that has used up its own


def confine(config, wall, fence, folders, template):
    """Give up everything that the run does not need. Any failure is an exception: nothing runs."""
    die_with_parent(template, config["prctl"])
    os.chdir(folders[0])
    for name, value in config["rlimits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    if wall is not None:
        wall.close_behind(folders)
    os.closerange(JOB + 1, 1 << 20)
    if fence is not None:
        close_to_others()  # without a filter the snippet could take this back
        fence.install("seccomp child filter")


def use_descriptors(fds):
    """Put the received descriptors where they belong: 0, 1, 2 and the job channel."""
    high = [os.dup(fd) for fd in fds]  # no received number may be overwritten before its turn
    for want, fd in zip((JOB, 0, 1, 2), high):
        os.dup2(fd, want, inheritable=False)


def own_folders():
    """The work and the temporary folder of this child. The template never learns their names, which
    its later children could find in its memory."""
    return os.read(JOB, PACKET).decode("utf-8", "surrogateescape").split("\0")


def open_streams():
    """Text streams that pass complete lines on at once, so that they survive a kill."""
    for name, fd, mode, errors in (("stdin", 0, "r", "strict"), ("stdout", 1, "w", "strict"),
                                   ("stderr", 2, "w", "backslashreplace")):
        raw = io.FileIO(fd, mode, closefd=False)
        buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        stream = io.TextIOWrapper(buffer, "utf-8", errors, line_buffering=mode == "w")
        stream.mode = mode
        raw.name = f"<{name}>"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def write_out(objects):
    """Flush the files among objects."""
    for thing in objects:
        if type(thing) in (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom):
            try:
                thing.flush()
            except BaseException:
                pass  # closed, or the disk is full


class Snippet:
    """The user's code: its fresh __main__ and how it is run."""

    def __init__(self, guarded):
        self.main = types.ModuleType("__main__")
        self.main.__dict__["__builtins__"] = guarded
        del self.main.__spec__, self.main.__loader__, self.main.__package__

    def compile(self, source):
        """Return code for the statements, and code for a last expression or None."""
        try:
            tree = compile(source, SNIPPET, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            body = compile(tree, SNIPPET, "exec", dont_inherit=True)
            if last is None:
                return body, None
            tail = ast.Expression(last.value)
            return body, compile(tail, SNIPPET, "eval", body.co_flags & FUTURE, dont_inherit=True)
        except (RecursionError, MemoryError):  # deep code that the compiler takes but the tree does not
            return compile(source, SNIPPET, "exec", dont_inherit=True), None

    def run(self, body, tail):
        """Run the code; return the repr of a last expression that is not None."""
        exec(body, self.main.__dict__)
        if tail is None:
            return None
        value = eval(tail, self.main.__dict__)
        return None if value is None else str.__str__(repr(value))  # exactly text, without code of the user's


class LastThings:
    """What the interpreter does after the last line: threads, then atexit.

    Neither is touched when the snippet gave no cause, because the first touch
    after a fork is slow.
    """

    def __init__(self):
        self._threads, self._waiting = threading._active, threading._limbo
        self._shutdown, self._run, self._count = threading._shutdown, atexit._run_exitfuncs, atexit._ncallbacks
        self._handlers, self._finalizers = logging._handlerList, weakref.finalize._registry
        self._known = self._count(), len(self._handlers), len(self._finalizers)

    def alone(self):
        return len(self._threads) <= 1 and not self._waiting

    def due(self):
        if len(self._threads) > 1 or self._waiting:
            yield self._shutdown
        if self._known != (self._count(), len(self._handlers), len(self._finalizers)):
            yield self._run


class Run:
    """Everything that one child prepares before its job arrives, and the run itself."""

    def __init__(self, config, work, tmp):
        self._token = b""
        self._tmp, self._work = tmp, work
        self._library = tuple(t.rstrip("/") + "/" for t in config["read_trees"])
        self.ledger = Ledger(self.send, self._library)
        self.guarded = guarded_builtins(self.ledger)
        if config["files"]:
            self.paths = Paths((work, tmp), config["read_trees"], config["read_files"])
        else:
            self.paths = Paths((), (), ())  # no wall stands between files: none can be opened
        self.snippet = Snippet(self.guarded)
        self._shadowable = config["shadowable"]
        # Taken now, so that user code cannot put itself in their place.
        self._write, self._exit, self._hook = os.write, os._exit, sys.excepthook
        self._last = LastThings()
        self._default = config["policy"]
        self._armed = False
        self._guard = config["guard"]

    def send(self, kind, text):
        self._write(JOB, self._token + kind + text.encode("utf-8", "backslashreplace"))

    def prepare(self):
        os.environ["HOME"] = os.environ["TMPDIR"] = self._tmp
        sys.modules["__main__"] = self.snippet.main
        sys.path.insert(0, self._work)
        sys.path_hooks.insert(0, work_folder_hook(self._work, self.guarded, self.ledger))
        sys.path_importer_cache.clear()
        sys.argv[:] = [""]
        open_streams()
        if not self._guard:
            return  # only tests of the kernel's layers run without it
        self.use(self._default)
        sys.addaudithook(lambda event, args: self._audit(event, args) if self._armed else None)

    def use(self, rules):
        """Put the guard in place for a policy. It refuses nothing until arm."""
        policy = Policy(rules["mode"], rules["rules"])
        arm_imports(self.guarded, policy, self.ledger, self._work)
        self._audit = audit_hook(self.ledger, self.paths, policy)

    def shadow(self, names):
        """Let the work folder's modules come before preloaded ones, as in a script's folder."""
        for name in names:
            if name in self._shadowable:
                for loaded in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
                    del sys.modules[loaded]

    def arm(self, header):
        self._token = header["token"].encode()
        # An unprivileged process can lower its hard limits and never raise them.
        for name, (soft, hard) in header["rlimits"].items():
            resource.setrlimit(getattr(resource, name), (soft, hard))
        self.shadow(header["modules"])
        if header["policy"] is not None and self._guard:  # a stricter or a looser one than the server's own
            self.use(header["policy"])
        self._armed = True

    def job(self, packet):
        head, _, code = packet.partition(b"\n")
        self.arm(loads(head))
        source = code.decode("utf-8")
        source = source[1:] if source.startswith("\ufeff") else source
        try:
            end = self.attempt(source)
        except BaseException as e:  # a trace function got in the way; one that raises is gone
            end = self.ended(self.failed, e, source)
        self.finish()
        self.let_go()
        for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
            try:
                getattr(sys, name).flush()
            except BaseException:
                pass  # a stream that the snippet closed, replaced or deleted
        try:
            self.send(b"R", report(**end, refusals=self.ledger.count))
        except BaseException:  # the snippet closed the channel: let the exit status tell
            self._exit(end["exit_code"])

    def attempt(self, source):
        """Run source to its end; return the words of the report."""
        try:
            try:
                code = self.snippet.compile(source)
            except SyntaxError as e:
                return self.ended(self.failed, e, source, "syntax_error")
            return {"end": "completed", "exit_code": 0, "value": self.snippet.run(*code)}
        except SystemExit as e:
            return self.ended(self.exited, e)
        except BaseException as e:
            return self.ended(self.failed, e, source)

    def ended(self, tell, exc, *how):
        """The words of the report on exc; also when the code of its own class gets in the way."""
        try:
            return tell(exc, *how)
        except BaseException:
            line, words = unspeakable(exc)
            self.print_error(line)
            return {"end": "exception", "exit_code": 1, "failure": words}

    def finish(self):
        """Wait for the user's threads and run what atexit holds, as the interpreter would."""
        for step in self._last.due():
            try:
                step()
            except BaseException as e:
                self.ended(self.failed, e, None)

    def let_go(self):
        """Close what the snippet left open, as the interpreter would, so that its files are whole."""
        try:
            if not os.listdir(self._work):
                return
            if self._last.alone():
                self.snippet.main.__dict__.clear()
                gc.collect()
            else:  # a daemon thread is at work with these globals
                write_out(gc.get_objects())
        except BaseException:
            pass  # the folder is gone, or cannot be read

    def exited(self, exc):
        code, status = exc.code, 1
        if code is None:
            status = 0
        elif isinstance(code, int):
            status = int(code) & 0xFF  # all that an exit status holds
        else:
            self.print_error(f"{code}\n")
        rule = refusal_behind(exc) if status else None
        return {"end": "exit", "exit_code": status, "rule": rule}

    def failed(self, exc, source, end="exception"):
        BALLAST.clear()
        rule = refusal_behind(exc)
        failure = Failure(exc, source, self.ledger.foreign)
        if sys.excepthook is self._hook:
            self.print_error(failure.traceback)
        else:
            try:
                sys.excepthook(type(exc), exc, exc.__traceback__)
            except BaseException:
                self.print_error(failure.traceback)
        return {"end": end, "exit_code": 1, "failure": failure.words(), "rule": rule}

    def print_error(self, text):
        for name in ("stderr", "__stderr__"):
            try:
                getattr(sys, name).write(text)
                return
            except BaseException:
                continue


WARM = (
    "import json, re, collections, datetime, dataclasses, math, random, textwrap\n"
    "@dataclasses.dataclass\nclass P:\n    x: int = 1\n"
    "q = json.loads(json.dumps({'a': [1, 2.5, None, P().x]}))\n"
    "re.sub(r'(\\w+)-(\\d+)', r'\\2', 'warm-42'), collections.Counter('warm'), datetime.datetime.now().isoformat()\n"
    "[f'{i:03d}' for i in range(50)]\n"
)


def warm_up(run, poller):
    """Touch the pages that a run will touch, in stages, until the job arrives.

    A page costs a fault after the fork; taken while waiting, it costs the run nothing.
    """
    snippet = Snippet(builtins)
    sink = io.TextIOWrapper(io.BytesIO(), "utf-8", line_buffering=True)

    def program():
        repr(snippet.run(*snippet.compile(WARM)))
        print("warm", 1, 2.5, file=sink)

    def trouble():
        try:
            exec(compile("def f():\n    1/0\nf()\n", "<warm>", "exec"), {"__builtins__": builtins})
        except ZeroDivisionError as e:
            Failure(e, None, run.ledger.foreign).words()
        report("completed", 0, "1")

    def heap():
        [bytearray(4096) for _ in range(64)]
        [[i] for i in range(4000)]

    for stage in (program, trouble, heap, program):
        if poller.poll(0):
            return
        stage()


def live(config, wall, fence, fds, template):
    """The whole life of a child. Does not return."""
    use_descriptors(fds)
    try:
        folders = own_folders()
        run = Run(config, *folders)
        run.prepare()
        confine(config, wall, fence, folders, template)
        gc.enable()
        os.write(JOB, b"ready")
    except BaseException as e:
        os.write(JOB, b"failed " + f"{type(e).__name__}: {e}".encode("utf-8", "backslashreplace")[:500])
        os._exit(70)
    poller = select.poll()
    poller.register(JOB, select.POLLIN)
    warm_up(run, poller)
    packet = os.read(JOB, PACKET)
    if packet:
        try:
            run.job(packet)
        except BaseException:  # whatever the snippet bent: no frame of ours is its business
            os._exit(1)
        while True:
            time.sleep(3600)  # the parent takes its measurements, then kills
    os._exit(0)
