"""The kernel calls that the standard library does not offer.

Every call raises Step, which names the step that failed: a child that cannot
set itself up must say where, and must not run.
"""

import base64
import ctypes
import os
import struct

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_SPEC_ALLOW = 1 << 2  # linux/seccomp.h; spares the mitigations of kernels before 5.16
LANDLOCK_RULE_PATH_BENEATH = 1
SIGKILL = 9

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.prctl.restype = ctypes.c_int


class Step(Exception):
    """A set-up step that the kernel refused."""

    def __init__(self, step, number):
        super().__init__(f"{step}: {os.strerror(number)}")


def _must(step, result):
    if result < 0:
        raise Step(step, ctypes.get_errno())
    return result


def _long(value):
    return ctypes.c_long(value)


def die_with_parent(parent, prctl):
    """Ask for SIGKILL when the parent dies, then check that it has not done so already.

    Where prctl(2) is refused, the template ends with its control channel and
    ends its children.
    """
    if prctl:
        _must("prctl PDEATHSIG", _libc.prctl(PR_SET_PDEATHSIG, _long(SIGKILL), _long(0), _long(0), _long(0)))
    if os.getppid() != parent:
        raise Step("parent check", 3)


def close_to_others():
    """Let no process of the same user look in: at memory, and at what /proc shows by name (PR_SET_DUMPABLE, prctl(2))."""
    _must("prctl DUMPABLE", _libc.prctl(PR_SET_DUMPABLE, _long(0), _long(0), _long(0), _long(0)))


class Filter:
    """A seccomp program, assembled by the parent, ready to be installed."""

    OWN_PID = struct.pack("=I", 0x7FFFFFFF)  # stands for the process's own id; no process has it

    def __init__(self, number, program):
        self._number, self._program = number, base64.b64decode(program)

    def install(self, step):
        code = self._program.replace(self.OWN_PID, struct.pack("=I", os.getpid()))
        buffer = ctypes.create_string_buffer(code, len(code))
        # struct sock_fprog { unsigned short len; struct sock_filter *filter; }
        prog = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
        _must(step, _libc.syscall(_long(self._number), _long(SECCOMP_SET_MODE_FILTER),
                                  _long(SECCOMP_FILTER_FLAG_SPEC_ALLOW), prog))


class Wall:
    """The Landlock layer of one child: the library to read, its own folders to write."""

    CREATE, ADD, RESTRICT = 444, 445, 446  # the same numbers on every architecture

    def __init__(self, plan, read_trees, read_files, write_files):
        self._plan = plan
        self._attr = struct.pack("=QQQ", plan["handled_fs"], plan["handled_net"], plan["scoped"])[:plan["attr_size"]]
        self._shared = [*self._open(read_trees, plan["read_tree"]), *self._open(read_files, plan["read_file"]),
                        *self._open(write_files, plan["write_file"])]

    @staticmethod
    def _open(paths, access):
        for path in paths:
            try:
                yield os.open(path, os.O_PATH | os.O_CLOEXEC), access
            except FileNotFoundError:
                continue  # what is not there needs no permission

    def _allow(self, ruleset, fd, access):
        rule = struct.pack("=Qi", access, fd)  # struct landlock_path_beneath_attr is packed
        _must("landlock rule", _libc.syscall(_long(self.ADD), _long(ruleset), _long(LANDLOCK_RULE_PATH_BENEATH),
                                             rule, _long(0)))

    def close_behind(self, folders):
        """Restrict the calling process to the shared rules and to folders."""
        ruleset = _must("landlock ruleset", _libc.syscall(_long(self.CREATE), self._attr, _long(len(self._attr)), _long(0)))
        for fd, access in self._shared:
            self._allow(ruleset, fd, access)
        for path in folders:
            fd = os.open(path, os.O_PATH | os.O_DIRECTORY)
            self._allow(ruleset, fd, self._plan["write_tree"])
            os.close(fd)
        _must("landlock restrict", _libc.syscall(_long(self.RESTRICT), _long(ruleset), _long(0)))
        os.close(ruleset)
