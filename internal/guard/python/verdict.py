"""What the child says about itself: value, exception, how the snippet ended.

Everything here runs after user code, in an interpreter that user code may have
bent. So it holds its own references, survives any exception, and writes JSON
without a library that could have been patched.
"""

import errno
import linecache
import traceback
import types

from cloche_refusal import RULE, SNIPPET, DeniedImport, DeniedOperation, clip, printable, quote

VALUE, MESSAGE, TRACEBACK, TYPE = 4000, 2000, 8000, 200  # characters
DISK_ERRORS = (errno.EFBIG, errno.ENOSPC, errno.EDQUOT)

HIDDEN = "<the exception cannot be shown>"

_Traceback = types.TracebackType
_own_name = type.__dict__["__name__"].__get__  # past whatever a metaclass does
_format = traceback.TracebackException
_lines = linecache.cache


def _text(value, most):
    return quote(printable(clip(value, most)))


def _related(exc):
    """exc and every exception that its traceback would show."""
    todo, seen = [exc], []
    while todo and len(seen) < 100:
        e = todo.pop()
        if e is None or any(e is s for s in seen):
            continue
        seen.append(e)
        todo += [e.__cause__, e.__context__]
        if isinstance(e, BaseExceptionGroup):
            todo += e.exceptions
    return seen


def _without_foreign_frames(tb, foreign):
    kept = []
    while tb is not None:
        if not foreign(tb.tb_frame.f_code.co_filename):
            kept.append(tb)
        tb = tb.tb_next
    chain = None
    for tb in reversed(kept):
        chain = _Traceback(chain, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    return chain


def _line(exc):
    """The snippet's line that the exception came through last."""
    if isinstance(exc, SyntaxError) and exc.filename == SNIPPET:
        return exc.lineno
    line, tb = None, exc.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == SNIPPET:
            line = tb.tb_lineno
        tb = tb.tb_next
    return line


def refusal_behind(exc):
    """The rule whose refusal ended the snippet with exc, or None.

    A refusal that the snippet caught, and that something else followed, did not
    end it; one that it raised again in other words, or answered with an exit, did.
    """
    seen = []
    while exc is not None and not any(exc is s for s in seen):
        seen.append(exc)
        if isinstance(exc, (DeniedImport, DeniedOperation)):
            return RULE[type(exc)]
        if isinstance(exc, BaseExceptionGroup):
            return next(filter(None, map(refusal_behind, exc.exceptions)), None)
        exc = exc.__cause__ or (exc.__context__ if isinstance(exc, SystemExit) else None)
    return None


class Failure:
    """An uncaught exception, told with the user's own frames."""

    def __init__(self, exc, source, foreign):
        if source is not None:
            _lines[SNIPPET] = (len(source), None, source.splitlines(keepends=True), SNIPPET)
        self.memory = isinstance(exc, MemoryError)
        self.disk = isinstance(exc, OSError) and exc.errno in DISK_ERRORS
        for e in _related(exc):
            e.__traceback__ = _without_foreign_frames(e.__traceback__, foreign)
        self._exc, self._line = exc, _line(exc)
        self.traceback = self._formatted()

    def _formatted(self):
        try:
            return "".join(_format(type(self._exc), self._exc, self._exc.__traceback__, compact=True).format())
        except BaseException:  # an exception whose own code fails must not hide what happened
            return f"{self._name()}: {HIDDEN}\n"

    def _name(self):
        try:
            module, name = type(self._exc).__module__, type(self._exc).__qualname__
            return name if module in ("builtins", "__main__") else f"{module}.{name}"
        except BaseException:
            return "Exception"

    def _message(self):
        try:
            return str.__str__(str(self._exc))
        except BaseException:
            return "<the message cannot be shown>"

    def words(self):
        """What the report says of it. Nothing keeps the exception, and with it the user's objects, alive."""
        return self._json(), self.memory, self.disk

    def _json(self):
        return '{"type":%s,"message":%s,"line":%s,"traceback":%s}' % (
            _text(self._name(), TYPE), _text(self._message(), MESSAGE),
            self._line if type(self._line) is int else "null", _text(self.traceback, TRACEBACK))


def unspeakable(exc):
    """A line for stderr and the words of the report for an exception that cannot be told: the code of
    its class hides it, or no memory is left."""
    line = f"{str.__str__(_own_name(type(exc)))}: {HIDDEN}\n"
    return line, ('{"type":%s,"message":%s,"line":null,"traceback":%s}' % (
        _text(line.partition(":")[0], TYPE), quote(HIDDEN), _text(line, TRACEBACK)), isinstance(exc, MemoryError), False)


def report(end, exit_code, value=None, failure=("null", False, False), rule=None, refusals=0):
    """The child's last words, as JSON; none for the usual end: completed, without a value or a refusal."""
    if end == "completed" and value is None and not refusals:
        return ""
    error, memory, disk = failure
    return '{"end":%s,"exit_code":%d,"value":%s,"error":%s,"refused":%s,"memory":%s,"disk":%s,"blocked_count":%d}' % (
        quote(end), exit_code, "null" if value is None else _text(value, VALUE),
        error, quote(rule) if rule else "null", "true" if memory else "false", "true" if disk else "false", refusals)


OUT_OF_MEMORY = report("exception", 1, failure=(
    '{"type":"MemoryError","message":"no memory was left to tell more","line":null,"traceback":""}', True, False))
