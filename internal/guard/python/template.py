"""The template interpreter: load the library once, then fork confined children on request."""

import gc
import os
import socket
import sys
import threading
from importlib import import_module

from cloche_child import live
from cloche_kernel import SIGKILL, Confinement, Filter, Step, die_with_parent, fork, share_text
from cloche_memory import own_memory
from cloche_packages import Packages
from cloche_run import Run
from cloche_warm import Rehearsal

MESSAGE = 1 << 16
SPACE = socket.CMSG_SPACE(8 * 4)  # of eight descriptors


def unpack(data):
    """The descriptors of an SCM_RIGHTS message."""
    return memoryview(data).cast("i")


def preload(names):
    for name in names:
        try:
            import_module(name)
        except ImportError:
            continue  # not every Python has every module


def opens_files(loaded):
    """Whether C code is there that may open files without an event. numpy's does not."""
    return bool(set(loaded) - {"numpy"}) or any(
        name in sys.modules or name in sys.builtin_module_names for name in ("_dbm", "_gdbm"))


class Template:
    """The control loop: one request, one answer. Single-threaded by design: fork keeps only one thread."""

    def __init__(self, config, control, packages):
        self._control = socket.socket(fileno=control)
        self._children = {}  # id -> pid
        self._run = Run(config)
        self._packages = packages
        self._rehearsal = Rehearsal(self._run, packages)
        self._rehearsal.in_template()
        self._confinement = Confinement(config)

    def prepare(self):
        """Make what every child starts with, after the freeze."""
        self._run.prepare()
        self._rehearsal.prepare()

    def tell(self, message):
        self._control.send(message)

    def serve(self):
        requests = {b"fork": self.fork, b"reap": self.reap}
        while True:
            message, control, _, _ = self._control.recvmsg(MESSAGE, SPACE)
            if not message:
                self.end()
            kind, _, child = message.partition(b" ")
            requests[kind](int(child), [fd for _, _, data in control for fd in unpack(data)])

    def end(self):
        """The parent is gone: leave no child behind."""
        for pid in self._children.values():
            os.kill(pid, SIGKILL)
        os._exit(0)

    def fork(self, child, fds):
        try:
            self._confinement.receive(fds)
            pid = fork()
        except Step as e:
            self.tell(b"unborn %d %s" % (child, str(e).encode()))
            pid = -1
        if pid == 0:
            live(self._confinement, self._run, self._packages, self._rehearsal)
        for fd in fds:
            os.close(fd)
        if pid > 0:
            self._children[child] = pid
            self.tell(b"born %d %d" % (child, pid))

    def reap(self, child, _fds):
        """Take the end of a child that the parent saw die. Not before: until then its number is its own.

        A child that was killed may be slow to die, or frozen; nobody else waits for it meanwhile.
        """
        pid, status, usage = os.wait4(self._children[child], os.WNOHANG)
        if pid == 0:
            self.tell(b"alive %d" % child)
            return
        del self._children[child]
        self.tell(b"dead %d %d %d %d" % (child, status, (usage.ru_utime + usage.ru_stime) * 1e9, usage.ru_maxrss * 1024))


def main(config, control, started_with):
    try:
        die_with_parent(config["parent"], config["prctl"])
        own_memory()
        preload(config["preload"])
        packages = Packages(config["packages"] or (), config["must_load"], config["home"])
        config["native"] = opens_files(packages.loaded)
        config["shadowable"] = frozenset(m.partition(".")[0] for m in set(sys.modules) - started_with)
        threading.stack_size(config["thread_stack"])
        sys.dont_write_bytecode = True
        template = Template(config, control, packages)
        share_text()
        if config["template_filter"]:
            Filter(config["numbers"]["seccomp"], config["template_filter"]).install("seccomp template filter")
        gc.collect()
        gc.freeze()
        gc.disable()
        template.prepare()
        template.tell(b" ".join([b"ready", *map(str.encode, packages.loaded)]))
    except BaseException as e:
        os.write(control, b"failed " + f"{type(e).__name__}: {e}".encode("utf-8", "backslashreplace")[:MESSAGE // 2])
        os._exit(70)
    template.serve()
