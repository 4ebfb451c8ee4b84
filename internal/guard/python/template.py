"""The template interpreter: load the library once, then fork confined children on request."""

import gc
import os
import select
import socket
import sys
import threading
from importlib import import_module
from json import dumps, loads

from cloche_child import live
from cloche_kernel import SIGKILL, Filter, Wall, die_with_parent
from cloche_packages import Packages
from cloche_run import Run
from cloche_warm import Rehearsal

MESSAGE = 1 << 16
ASK_EVERY = 10  # milliseconds


def preload(names):
    for name in names:
        try:
            import_module(name)
        except ImportError:
            continue  # not every Python has every module


class Template:
    """The control loop. Single-threaded by design: fork keeps only one thread."""

    def __init__(self, config, control, packages):
        self._config = config
        self._control = socket.socket(fileno=control)
        self._children = {}  # pid -> (id, pidfd or None)
        self._blind = not config["pidfd"]  # then children have to be asked for
        self._poller = select.poll()
        self._poller.register(self._control, select.POLLIN)
        self._pid = os.getpid()
        landlock = config["landlock"]
        self._wall = landlock and Wall(landlock, config["read_trees"], config["read_files"], config["write_files"])
        self._run = Run(config)
        self._packages = packages
        self._rehearsal = Rehearsal(self._run, packages)
        self._rehearsal.in_template()
        self._fence = config["child_filter"] and Filter(config["seccomp_number"], config["child_filter"])

    def tell(self, message, fds=()):
        socket.send_fds(self._control, [dumps(message).encode()], fds)

    def serve(self):
        while True:
            for fd, _ in self._poller.poll(ASK_EVERY if self._blind and self._children else None):
                if fd == self._control.fileno():
                    self.request()
            self.reap()

    def end(self):
        """The parent is gone: leave no child behind."""
        for pid in self._children:
            os.kill(pid, SIGKILL)
        os._exit(0)

    def request(self):
        message, fds, _, _ = socket.recv_fds(self._control, MESSAGE, 8)
        if not message:
            self.end()
        request = loads(message)
        try:
            pid = os.fork()
        except OSError as e:
            self.tell({"id": request["id"], "failed": f"fork: {e.strerror}"})
            pid = -1
        if pid == 0:
            live(self._config, self._wall, self._fence, self._run, self._packages, self._rehearsal, fds, self._pid)
        for fd in fds:
            os.close(fd)
        if pid > 0:
            self.adopt(pid, request["id"])

    def adopt(self, pid, child):
        pidfd = None
        if not self._blind:
            pidfd = os.pidfd_open(pid)
            self._poller.register(pidfd, select.POLLIN)
        self._children[pid] = child, pidfd
        self.tell({"id": child, "pid": pid}, [] if pidfd is None else [pidfd])

    def reap(self):
        """Tell the end of every child that is dead."""
        while self._children:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            child, pidfd = self._children.pop(pid)
            if pidfd is not None:
                self._poller.unregister(pidfd)
                os.close(pidfd)
            self.tell({"id": child, "status": status, "cpu": usage.ru_utime + usage.ru_stime,
                       "peak": usage.ru_maxrss * 1024})


def main(config, control, started_with):
    try:
        die_with_parent(config["parent"], config["prctl"])
        preload(config["preload"])
        packages = Packages(config["packages"] or (), config["must_load"], config["home"])
        config["shadowable"] = frozenset(m.partition(".")[0] for m in set(sys.modules) - started_with)
        threading.stack_size(config["thread_stack"])
        sys.dont_write_bytecode = True
        template = Template(config, control, packages)
        if config["template_filter"]:
            Filter(config["seccomp_number"], config["template_filter"]).install("seccomp template filter")
        gc.collect()
        gc.freeze()
        gc.disable()
        template.tell({"ready": True, "loaded": packages.loaded})
    except BaseException as e:
        os.write(control, dumps({"failed": f"{type(e).__name__}: {e}"}).encode()[:MESSAGE])
        os._exit(70)
    template.serve()
