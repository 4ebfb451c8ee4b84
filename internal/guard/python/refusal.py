"""What the guard refuses, and how that is told.

Exceptions look like the ones that plain Python raises (ImportError and
PermissionError), so that code which copes with them copes here too; the classes
only let the verdict see whether a refusal ended the snippet.
"""

import sys
from _json import encode_basestring as quote

IMPORT, OPERATION = "import_denied", "operation_denied"
KEEP = 50  # refusals that are told in full
TARGET = 200  # characters of a target

SNIPPET = "<snippet>"
HARNESS = "<cloche>/"


class DeniedImport(ImportError):
    pass


class DeniedOperation(PermissionError):
    pass


for _class, _public in ((DeniedImport, ImportError), (DeniedOperation, PermissionError)):
    _class.__name__, _class.__qualname__, _class.__module__ = _public.__name__, _public.__qualname__, "builtins"

_frame = sys._getframe

RULE = {DeniedImport: IMPORT, DeniedOperation: OPERATION}


def printable(text):
    """text with what UTF-8 cannot carry written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def clip(text, most):
    """At most `most` characters of text: its head and its tail, and how much is missing between."""
    if len(text) <= most:
        return text
    mark = f"\n... {len(text) - most} or more characters left out ...\n"
    tail = (most - len(mark)) // 3
    return text[:most - len(mark) - tail] + mark + text[len(text) - tail:]


class Ledger:
    """Counts the refusals of one run and tells the first ones as they happen.

    They are told at once, because a run that is killed sends no report.
    """

    def __init__(self, send, library):
        self.count = 0
        self._send = send
        self._library = library

    def foreign(self, filename):
        """Whether a frame's file is the harness's or the library's, and not the user's."""
        return filename.startswith((HARNESS, "<frozen")) or filename.startswith(self._library)

    def _where(self):
        frame, ours = _frame(2), True
        while frame is not None:
            filename = frame.f_code.co_filename
            if not filename.startswith(HARNESS):
                ours = False
            elif not ours:
                break  # back in the harness, with only library code between
            if not self.foreign(filename):
                return filename, frame.f_lineno
            frame = frame.f_back
        return SNIPPET, None

    def note(self, rule, target):
        self.count += 1
        if self.count > KEEP:
            return
        filename, line = self._where()
        self._send(b"B", '{"rule":"%s","target":%s,"file":%s,"line":%s}' % (
            rule, quote(printable(clip(target, TARGET))), quote(printable(clip(filename, TARGET))),
            "null" if line is None else line))

    def refuse_import(self, module, why):
        self.note(IMPORT, module)
        raise DeniedImport(f"import of {module!r} is refused: it {why}", name=module)

    def refuse_operation(self, target, why):
        self.note(OPERATION, target)
        raise DeniedOperation(1, f"{why} is refused", target)
