"""The kernel calls that the standard library does not offer.

Every call raises Step, which names the step that failed: a child that cannot
set itself up must say where, and must not run.
"""

import base64
import ctypes
import errno
import mmap
import os
import struct

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
CLONE_NEWUSER = 0x10000000
CAPABILITY_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3, linux/capability.h
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_SPEC_ALLOW = 1 << 2  # linux/seccomp.h; spares the mitigations of kernels before 5.16
SIGKILL = 9
PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
PT_LOAD, PF_X, PF_W = 1, 1, 2  # elf.h
PAGE = mmap.PAGESIZE

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long
_libc.prctl.restype = ctypes.c_int


class Step(Exception):
    """A set-up step that the kernel refused."""

    def __init__(self, step, number):
        super().__init__(f"{step}: {os.strerror(number)}")


def _must(step, result):
    if result < 0:
        raise Step(step, ctypes.get_errno())
    return result


_pointer, _size = ctypes.c_void_p, ctypes.c_size_t


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
        raise Step("parent check", errno.ESRCH)


_fork = ctypes.PyDLL(None, use_errno=True).fork  # keeps the interpreter's lock, as its own fork does
_fork.restype = ctypes.c_int


def fork():
    """fork(2) without the interpreter's own hooks.

    os.fork renews every lock, forgets other threads, and calls what modules
    registered. A process with one thread needs none of it, and each page that
    the hooks change costs a copy in every child. Left to the caller is what
    one thread needs too: new random numbers.
    """
    pid = _fork()
    if pid < 0:
        raise Step("fork", ctypes.get_errno())
    return pid


def hot_text():
    """The mappings of the interpreter's and the C library's own code and constants: (start, end, protection)."""
    landmarks = [ctypes.cast(f, _pointer).value for f in (ctypes.pythonapi.Py_Initialize, _libc.prctl)]
    found = []

    def note(info, _size, _data):
        base, _, headers, count = struct.unpack("=QQQH", ctypes.string_at(info, 26))  # struct dl_phdr_info
        segments = []
        for i in range(count):
            kind, flags, _, at, _, _, size, _ = struct.unpack("=IIQQQQQQ", ctypes.string_at(headers + 56 * i, 56))  # Elf64_Phdr
            if kind == PT_LOAD and not flags & PF_W:
                start, end = base + at, base + at + size
                segments.append((start & -PAGE, (end + PAGE - 1) & -PAGE, PROT_READ | (PROT_EXEC if flags & PF_X else 0)))
        if any(start <= mark < end for start, end, _ in segments for mark in landmarks):
            found.extend(segments)
        return 0

    _libc.dl_iterate_phdr(ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _size, _pointer)(note), None)
    return found


def share_text():
    """Have forks share what is mapped of the interpreter's code, page tables and all.

    The kernel leaves that to page faults, some hundred in each child, unless a page of the mapping was
    ever written (vma_needs_copy in mm/memory.c). So one is, with what it holds.
    """
    try:
        mappings = hot_text()
    except Exception:  # no memory for a callback, say; all this is for speed only
        return
    for start, end, protection in mappings:
        if _libc.mprotect(_pointer(start), _size(end - start), protection | PROT_WRITE) != 0:
            continue  # a kernel with stricter rules; it only costs time
        ctypes.memmove(start, ctypes.string_at(start, 1), 1)
        _must("mprotect", _libc.mprotect(_pointer(start), _size(end - start), protection))


class Filter:
    """A seccomp program, assembled by the parent, ready to be installed."""

    OWN_PID = struct.pack("=I", 0x7FFFFFFF)  # stands for the process's own id; no process has it

    def __init__(self, number, program):
        code = base64.b64decode(program)
        self._buffer = buffer = ctypes.create_string_buffer(code, len(code))
        at = [i for i in range(4, len(code), 8) if code[i:i + 4] == self.OWN_PID]  # struct sock_filter's k
        self._own = [ctypes.c_uint32.from_buffer(buffer, i) for i in at]
        # struct sock_fprog { unsigned short len; struct sock_filter *filter; }
        self._prog = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
        self._call = _long(number), _long(SECCOMP_SET_MODE_FILTER), _long(SECCOMP_FILTER_FLAG_SPEC_ALLOW), self._prog

    def install(self, step):
        pid = os.getpid()
        for word in self._own:
            word.value = pid
        _must(step, _syscall(*self._call))


class Confinement:
    """What a child does to itself first. Its system calls are made ready in the template: each object that
    a child makes or touches costs it a page.
    """

    JOB = 3  # the number that the job channel gets; those that are received are above it

    def __init__(self, config):
        number = {name: _long(n) for name, n in config["numbers"].items()}
        self._received = [_long(-1) for _ in range(5 if config["landlock"] else 4)]  # job, 0, 1, 2 and the ruleset
        self._calls = [(f"descriptor {want}", (number["dup3"], fd, _long(want), _long(os.O_CLOEXEC)))
                       for want, fd in zip((self.JOB, 0, 1, 2), self._received)]
        for resource, most in config["rlimits"]:
            limit = struct.pack("=QQ", most, most)  # struct rlimit64
            self._calls.append((f"limit {resource}", (number["prlimit64"], _long(0), _long(resource), limit, _long(0))))
        if config["namespace"]:
            # The limit on tasks that is in force now binds the namespace as a whole (set_userns_rlimit_max,
            # kernel/ucount.c); the one that comes with the job is about the tasks inside. What the namespace
            # gives in capabilities is given back.
            self._calls.append(("user namespace", (number["unshare"], _long(CLONE_NEWUSER))))
            self._calls.append(("capabilities", (number["capset"], struct.pack("=Ii", CAPABILITY_VERSION, 0), bytes(24))))
        if config["prctl"]:
            self._calls.append(("prctl PDEATHSIG", (number["prctl"], _long(PR_SET_PDEATHSIG), _long(SIGKILL))))
        if config["landlock"]:
            self._calls.append(("landlock restrict", (number["landlock_restrict_self"], self._received[4], _long(0))))
        elif config["prctl"]:  # under Landlock no run sees another's /proc, and the parent may look in
            self._calls.append(("prctl DUMPABLE", (number["prctl"], _long(PR_SET_DUMPABLE), _long(0))))
        self._filter = config["child_filter"] and Filter(config["numbers"]["seccomp"], config["child_filter"])
        self._parent = os.getpid()

    def receive(self, fds):
        """Take the descriptors of the next child, in the template."""
        if len(fds) != len(self._received) or min(fds) <= self.JOB:
            raise Step("take descriptors", errno.EMFILE)  # there was no room for all of them
        for slot, fd in zip(self._received, fds):
            slot.value = fd

    def enter(self):
        """Give up everything that the run does not need. On any failure nothing may run."""
        for step, call in self._calls:
            if _syscall(*call) < 0:
                raise Step(step, ctypes.get_errno())
        if os.getppid() != self._parent:
            raise Step("parent check", errno.ESRCH)
        os.closerange(self.JOB + 1, 1 << 20)
        if self._filter:
            self._filter.install("seccomp child filter")
