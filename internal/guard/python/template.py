"""The template interpreter: load the library once, then fork confined children on request."""

import ctypes
import gc
import os
import select
import socket
import sys
import threading
from importlib import import_module
from json import dumps, loads

from cloche_child import live
from cloche_kernel import Filter, Wall, die_with_parent

MESSAGE = 1 << 16


def preload(names):
    for name in names:
        try:
            import_module(name)
        except ImportError:
            continue  # not every Python has every module


class Template:
    """The control loop. Single-threaded by design: fork keeps only one thread."""

    def __init__(self, config, control):
        self._config = config
        self._control = socket.socket(fileno=control)
        self._children = {}  # pidfd -> (pid, id)
        self._poller = select.poll()
        self._poller.register(self._control, select.POLLIN)
        self._pid = os.getpid()
        landlock = config["landlock"]
        self._wall = landlock and Wall(landlock, config["read_trees"], config["read_files"], config["write_files"])
        self._fence = config["child_filter"] and Filter(config["seccomp_number"], config["child_filter"])

    def tell(self, message, fds=()):
        socket.send_fds(self._control, [dumps(message).encode()], fds)

    def serve(self):
        while True:
            for fd, _ in self._poller.poll():
                if fd == self._control.fileno():
                    self.request()
                else:
                    self.reap(fd)

    def request(self):
        message, fds, _, _ = socket.recv_fds(self._control, MESSAGE, 8)
        if not message:
            os._exit(0)  # the parent is gone; the children follow by their death signal
        request = loads(message)
        try:
            pid = os.fork()
        except OSError as e:
            self.tell({"id": request["id"], "failed": f"fork: {e.strerror}"})
            pid = -1
        if pid == 0:
            live(self._config, self._wall, self._fence, request, fds, self._pid)
        for fd in fds:
            os.close(fd)
        if pid > 0:
            pidfd = os.pidfd_open(pid)
            self._children[pidfd] = pid, request["id"]
            self._poller.register(pidfd, select.POLLIN)
            self.tell({"id": request["id"], "pid": pid}, [pidfd])

    def reap(self, pidfd):
        pid, child = self._children.pop(pidfd)
        self._poller.unregister(pidfd)
        os.close(pidfd)
        _, status, usage = os.wait4(pid, 0)
        self.tell({"id": child, "status": status, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss * 1024})


def main(config, control, started_with):
    try:
        die_with_parent(config["parent"])
        preload(config["preload"])
        config["shadowable"] = frozenset(m.partition(".")[0] for m in set(sys.modules) - started_with)
        threading.stack_size(config["thread_stack"])
        sys.dont_write_bytecode = True
        template = Template(config, control)
        if config["template_filter"]:
            Filter(config["seccomp_number"], config["template_filter"]).install("seccomp template filter")
        gc.collect()
        gc.freeze()
        gc.disable()
        template.tell({"ready": True})
    except BaseException as e:
        os.write(control, dumps({"failed": f"{type(e).__name__}: {e}"}).encode()[:MESSAGE])
        os._exit(70)
    template.serve()
