"""The audit hook: what library code does on behalf of user code.

An import guard alone lets through every gadget that reaches a module by another
way than import. Under the kernel's filter those calls fail, but some fail in
silence (os.system returns a status), so the hook refuses them with a reason.
Like the import guard it is policy and plain speech, not the wall.
"""

import os
import socket
import sys
import types

from cloche_refusal import HARNESS

PROCESS = "starting or signalling a process"
NETWORK = "using the network"
NATIVE = "loading or calling native code"
HOST = "changing the host or the guard"

# Events are listed in the library reference, "Audit events table".
REFUSED = types.MappingProxyType({
    **dict.fromkeys(("os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.kill",
                     "os.killpg", "pty.spawn", "subprocess.Popen", "signal.pthread_kill"), PROCESS),
    **dict.fromkeys(("urllib.Request", "webbrowser.open", "socket.gethostbyname", "socket.gethostbyaddr",
                     "socket.getaddrinfo", "socket.getnameinfo", "socket.getservbyname", "socket.getservbyport",
                     "socket.bind", "socket.connect", "socket.sendto", "socket.sendmsg", "socket.sethostname",
                     "http.client.connect", "http.client.send", "ftplib.connect", "smtplib.connect",
                     "imaplib.open", "poplib.connect", "nntplib.connect", "telnetlib.Telnet.open"), NETWORK),
    **dict.fromkeys(("sqlite3.enable_load_extension", "sqlite3.load_extension"), NATIVE),
    **dict.fromkeys(("sys.addaudithook", "resource.setrlimit", "resource.prlimit", "syslog.openlog",
                     "syslog.syslog", "os.chown", "os.lchown"), HOST),
})

# Events whose arguments begin with a path, and where the folder descriptor of
# that path stands, if it can have one.
READS = types.MappingProxyType({"os.listdir": None, "os.scandir": None, "os.chdir": None, "os.getxattr": None,
                                "os.listxattr": None})
WRITES = types.MappingProxyType({"os.mkdir": 2, "os.remove": 1, "os.rmdir": 1, "os.truncate": None, "os.chmod": 2,
                                 "os.utime": 3, "os.setxattr": None, "os.removexattr": None})

DEVICES = frozenset({"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"})
STREAMS = frozenset({"/dev/stdin", "/dev/stdout", "/dev/stderr"})
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Paths:
    """Which paths a run may read and write; the kernel has the last word."""

    def __init__(self, trees, files):
        self._folders = ()
        self.written = False  # whether the run opened a file to write
        self.native = False  # whether it has C code that may do so without an event
        self._trees = tuple(t.rstrip("/") + "/" for t in trees)
        self._files = frozenset(files) | DEVICES | STREAMS
        # Taken now, so that user code cannot put itself in their place.
        self._join, self._norm, self._cwd, self._decode = os.path.join, os.path.normpath, os.getcwd, os.fsdecode

    def enter(self, *folders):
        """Take the folders of one child."""
        self._folders = tuple(f + "/" for f in folders)

    def absolute(self, path):
        path = self._decode(path) if isinstance(path, bytes) else str.__str__(path)
        if not path.startswith("/"):
            try:
                path = self._join(self._cwd(), path)
            except OSError:
                return None  # the folder is gone: the kernel says so better
        return self._norm(path)

    def allows(self, path, write):
        if self._folders and (path + "/").startswith(self._folders):
            return True
        if write:
            return path in STREAMS or path == "/dev/null"
        return path in self._files or self.library(path)

    def library(self, path):
        return (path + "/").startswith(self._trees)


def audit_hook(ledger, paths, policy):
    """The hook for one run. Unknown events pass: the kernel decides about them."""
    frame, socketpair = sys._getframe, socket.socketpair.__code__

    def refuse(event, _args):
        ledger.refuse_operation(event, REFUSED.get(event, NATIVE))

    def check(value, write):
        if value is None or type(value) is int:
            return
        where = paths.absolute(value)
        if where is not None and not paths.allows(where, write):
            ledger.refuse_operation(where, ("writing" if write else "reading") + " outside the work folder")

    def on_path(at, folder, write):
        def handle(_event, args):
            if folder is None or len(args) <= folder or args[folder] in (-1, None):
                check(args[at], write)
        return handle

    def on_pair(_event, args):
        for at, folder in ((0, 2), (1, 3)):
            if args[folder] in (-1, None):
                check(args[at], True)

    def on_open(_event, args):
        write = type(args[2]) is int and args[2] & WRITING != 0
        if write:
            paths.written = True
        check(args[0], write)

    def on_socket(_event, _args):
        # asyncio's wake-up pair is the one socket that a run may have.
        maker = frame(1)
        while maker.f_code.co_filename.startswith(HARNESS):
            maker = maker.f_back
        if maker.f_back is None or maker.f_back.f_code is not socketpair:
            ledger.refuse_operation("socket", NETWORK)

    def on_database(_event, args):
        paths.written = True  # by whatever name: a URI, or bytes
        name = args[0]
        if type(name) is str and name not in ("", ":memory:") and not name.startswith("file:"):
            check(name, True)

    def on_import(_event, args):
        if type(args[1]) is str:  # native code, which is loaded now
            paths.native = True
            if not paths.library(paths.absolute(args[1]) or ""):
                ledger.refuse_operation(args[1], NATIVE)

    def on_pickle(_event, args):
        why = policy.why_not(args[0]) if policy.denies and type(args[0]) is str else None
        if why is not None:
            ledger.refuse_import(args[0], why)

    handlers = types.MappingProxyType({
        **dict.fromkeys(REFUSED, refuse),
        **{event: on_path(0, folder, False) for event, folder in READS.items()},
        **{event: on_path(0, folder, True) for event, folder in WRITES.items()},
        "open": on_open, "os.rename": on_pair, "os.link": on_pair, "os.symlink": on_path(1, 2, True),
        "socket.__new__": on_socket, "sqlite3.connect": on_database, "import": on_import, "pickle.find_class": on_pickle,
    })

    def hook(event, args):
        handle = handlers.get(event)
        if handle is not None:
            handle(event, args)
        elif event.startswith("ctypes."):
            refuse(event, args)

    return hook
