"""One run: what the template prepares for it, the user's code, and the report."""

import __future__

import ast
import atexit
import gc
import io
import logging
import mmap
import os
import random
import resource
import sys
import threading
import types
import weakref
from json import loads
from operator import is_

from cloche_audit import Paths, audit_hook
from cloche_imports import Policy, WorkFolder, arm_imports, guarded_builtins, work_folder_hook
from cloche_refusal import SNIPPET, Ledger
from cloche_verdict import OUT_OF_MEMORY, Failure, refusal_behind, report, unspeakable

JOB = 3  # the descriptor of the job channel
LAST_WORDS = b"R" + OUT_OF_MEMORY.encode()
FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)

# Address space for the report of a snippet that has used up its own; no page of it is ever touched.
BALLAST = [mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)]


def open_streams():
    """Text streams that pass complete lines on at once, so that they survive a kill.

    Children write to pipes, so pipes lie there meanwhile: a stream remembers whether it can seek.
    """
    before = os.dup(1), os.dup(2)
    ends = os.pipe()
    for fd in (1, 2):
        os.dup2(ends[1], fd)
    make_streams()
    for fd, old in zip((1, 2), before):
        os.dup2(old, fd)
    for fd in (*before, *ends):
        os.close(fd)


def make_streams():
    for name, fd, mode, errors in (("stdin", 0, "r", "strict"), ("stdout", 1, "w", "strict"),
                                   ("stderr", 2, "w", "backslashreplace")):
        raw = io.FileIO(fd, mode, closefd=False)
        buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        stream = io.TextIOWrapper(buffer, "utf-8", errors, line_buffering=mode == "w")
        stream.mode = mode
        stream.seekable()
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


def read(packet):
    """What arm takes, and the source."""
    head, _, code = packet.partition(b"\n")
    token, memory, seconds, tasks, rest = head.split(b" ", 4)
    source = code.decode("utf-8")
    return (token, int(memory), int(seconds), int(tasks), rest), source[1:] if source.startswith("\ufeff") else source


def flush():
    """Write out what the standard streams still hold."""
    for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
        try:
            getattr(sys, name).flush()
        except BaseException:
            pass  # a stream that the snippet closed, replaced or deleted


class Snippet:
    """The user's code: its fresh __main__ and how it is run."""

    def __init__(self, guarded):
        self.main = types.ModuleType("__main__")
        self.main.__dict__["__builtins__"] = guarded
        del self.main.__spec__, self.main.__loader__, self.main.__package__

    def compile(self, source):
        """Return code for the statements, and code for a last expression; None for what there is not."""
        try:
            tree = compile(source, SNIPPET, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            body = compile(tree, SNIPPET, "exec", dont_inherit=True) if tree.body or last is None else None
            if last is None:
                return body, None
            tail, flags = ast.Expression(last.value), body.co_flags & FUTURE if body is not None else 0
            return body, compile(tail, SNIPPET, "eval", flags, dont_inherit=True)
        except (RecursionError, MemoryError):  # deep code that the compiler takes but the tree does not
            return compile(source, SNIPPET, "exec", dont_inherit=True), None

    def run(self, body, tail):
        """Run the code; return the repr of a last expression that is not None."""
        if body is not None:
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
        if not self.alone():
            yield self._shutdown
        if self._known != (self._count(), len(self._handlers), len(self._finalizers)):
            yield self._run


class Run:
    """Everything that a run needs, prepared once in the template; a child only enters its folders.

    What a child makes or changes after the fork costs it a page, so nothing is left to it that can
    be done before.
    """

    def __init__(self, config):
        self._token, self._source = b"", None
        self.folder = WorkFolder()
        library = tuple(t.rstrip("/") + "/" for t in config["read_trees"])
        self.ledger = Ledger(self.send, library)
        self.guarded = guarded_builtins(self.ledger)
        self.paths = Paths(config["read_trees"], config["read_files"]) if config["files"] else Paths((), ())
        self._files = config["files"]
        self._shadowable = config["shadowable"]
        # Taken now, so that user code cannot put itself in their place.
        self._write, self._exit, self._hook, self._list = os.write, os._exit, sys.excepthook, os.listdir
        self._last = LastThings()
        self._armed = False
        self._guard = config["guard"]
        sys.path_hooks.insert(0, work_folder_hook(self.folder, self.guarded, self.ledger))
        sys.argv[:] = [""]
        self.snippet = Snippet(self.guarded)  # for the rehearsals in the template
        open_streams()
        threading.excepthook = self.thread_failed
        self.paths.native = config["native"]
        self.paths.written = not self._guard  # else nobody would tell
        if self._guard:  # only tests of the kernel's layers run without it
            self.use(config["policy"])
            sys.addaudithook(lambda event, args: self._audit(event, args) if self._armed else None)

    def prepare(self):
        """Make what every child starts with. After the freeze, since the collector never looks into what is frozen."""
        self.snippet = Snippet(self.guarded)
        sys.modules["__main__"] = self.snippet.main
        sys.path.insert(0, "")

    def enter(self, work, tmp):
        """Take the folders of one child, and random numbers of its own."""
        self.folder.path = sys.path[0] = work
        if self._files:  # else no wall stands between files, and none can be opened
            self.paths.enter(work, tmp)
        os.environ["HOME"] = os.environ["TMPDIR"] = tmp
        random.seed()

    def send(self, kind, text):
        self._write(JOB, self._token + kind + text.encode("utf-8", "backslashreplace"))

    def use(self, rules):
        """Put the guard in place for a policy. It refuses nothing until arm."""
        policy = Policy(rules["mode"], rules["rules"])
        arm_imports(self.guarded, policy, self.ledger, self.folder, self.paths)
        self._audit = audit_hook(self.ledger, self.paths, policy)

    def shadow(self, names):
        """Let the work folder's modules come before preloaded ones, as in a script's folder."""
        for name in names:
            if name in self._shadowable:
                for loaded in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
                    del sys.modules[loaded]

    def arm(self, token, memory, seconds, tasks, rest):
        """Take what the first line of the job says: the token, the limits, and the rest as JSON, if there is any."""
        self._token, self._last_words = token, token + LAST_WORDS
        # An unprivileged process can lower its hard limits and never raise them.
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        if tasks:
            resource.setrlimit(resource.RLIMIT_NPROC, (tasks, tasks))
        if rest:
            more = loads(rest)
            self.shadow(more["modules"])
            if more["policy"] is not None and self._guard:  # a stricter or a looser one than the server's own
                self.use(more["policy"])
        self._armed = True

    def job(self, packet):
        head, source = read(packet)
        self.arm(*head)
        self.perform(source)

    def perform(self, source):
        """Run source, and say how it ended."""
        self._source = source
        try:
            end = self.attempt(source)
        except BaseException as e:  # a trace function got in the way; one that raises is gone
            end = self.ended(self.failed, e, source)
        self.finish()
        self.let_go()
        flush()
        try:
            self.send(b"R", report(**end, refusals=self.ledger.count))
        except BaseException:  # the snippet closed the channel: let the exit status tell
            self._exit(end["exit_code"])

    def rehearse(self):
        """Do a job that leaves no trace, and touch what is left out: to count a reference is to write
        to an object's page."""
        read(b"0 1 1 0 \nprint()")
        [getattr(part, "__code__", part) for part in (self.arm, resource.setrlimit, memoryview, bytes)]
        resource.getrlimit(resource.RLIMIT_AS)
        paths = self.paths
        kept = self._write, paths.written, paths.native
        # Silent, by what is called alike; and tidy, since the run's own files may lie there already.
        self._write, paths.written, paths.native, self._armed = is_, False, False, True
        try:
            self.perform('print(end="")')
        finally:
            self._armed = False
            self._write, paths.written, paths.native = kept

    def no_memory(self):
        """Report the end of a snippet that left nothing to report with."""
        self._write(JOB, self._last_words)

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

    def tidy(self):
        """Whether no file can have been left open. Libraries in C may open some by themselves, without an event."""
        paths = self.paths
        return not paths.written and not (paths.native and self._files and self._list(self.folder.path))

    def let_go(self):
        """Close what the snippet left open, as the interpreter would, so that its files are whole."""
        try:
            if self.tidy():
                return
            # First, since the collector may close a buffer before the text stream above it is flushed.
            write_out(gc.get_objects())
            if self._last.alone():  # else a daemon thread is at work with the globals
                self.forget()
                write_out(gc.get_objects())
        except BaseException:
            pass  # a finaliser of the snippet's got in the way

    def forget(self):
        """Let the user's modules go. Their globals stay whole until what they hold is finalised."""
        for name in [n for n, m in sys.modules.items() if getattr(m, "__builtins__", None) is self.guarded]:
            del sys.modules[name]
        self.snippet.main = None
        gc.collect()

    def exited(self, exc):
        code, status = exc.code, 1
        if code is None:
            status = 0
        elif isinstance(code, int):
            # All that an exit status holds; what does not fit a C long is -1, as in the interpreter.
            status = int(code) & 0xFF if -2**63 <= int(code) < 2**63 else 0xFF
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

    def thread_failed(self, args):
        """Show what ended a thread as the interpreter would, without frames of ours."""
        if args.exc_type is SystemExit:
            return
        text = Failure(args.exc_value, self._source, self.ledger.foreign).traceback
        self.print_error(f"Exception in thread {args.thread.name if args.thread else 'unknown'}:\n{text}")

    def print_error(self, text):
        for name in ("stderr", "__stderr__"):
            try:
                getattr(sys, name).write(text)
                return
            except BaseException:
                continue
