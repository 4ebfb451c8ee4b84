# What every probe is given: the scene C (a JSON object that the test puts in
# front of this text) and the means of an attacker who got round the guard.
import ctypes
import errno
import json
import os
import platform
import socket
import struct
import sys

C = json.loads(SCENE)
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
X86 = platform.machine() == "x86_64"

# What a kernel answers to what it will not do. A missing call, or a path that
# a file wall does not show, is as good as a refused one.
REFUSALS = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOENT, errno.EROFS}


class Refused(Exception):
    """The call said yes, and did nothing."""


class attempt:
    """Runs the attack in its block and prints the one line that the test reads.

    HELD needs a refusal that is named; whatever else goes wrong is BROKEN, so
    that a slip in a probe cannot look like a wall.
    """

    def __init__(self, won, *also):
        self.won, self.refusals = won, REFUSALS.union(also)

    def __enter__(self):
        return self

    def __exit__(self, kind, e, _):
        if kind is None:
            line = "PASSED " + self.won
        elif kind is Refused:
            line = f"HELD {e}"
        elif isinstance(e, OSError) and e.errno in self.refusals:
            line = "HELD " + errno.errorcode[e.errno]
        else:
            line = f"BROKEN {kind.__name__}: {e}"
        os.write(1, line.encode() + b"\n")
        return True


def call(number, *args):
    """A raw system call; number is a pair, for x86-64 and for arm64."""
    number = number[0 if X86 else 1]
    if number is None:
        raise OSError(errno.ENOSYS, "no such call on this processor")
    whole = [a if isinstance(a, (bytes, ctypes.Array, ctypes.Structure, type(None))) else ctypes.c_long(a) for a in args]
    result = libc.syscall(ctypes.c_long(number), *whole)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def reach(number, *args):
    """A call with arguments that cannot work: any answer but a refusal shows that the kernel looked at them."""
    try:
        call(number, *args)
    except OSError as e:
        if e.errno in REFUSALS:
            raise


def machine_code(code, *args):
    """Run x86-64 instructions. PROT_EXEC and PROT_WRITE together, private and anonymous."""
    libc.mmap.restype = ctypes.c_void_p
    page = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_long(0))
    if page in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "mmap")
    ctypes.memmove(page, code, len(code))
    result = ctypes.CFUNCTYPE(ctypes.c_long, *[ctypes.c_long] * len(args))(page)(*args)
    if -4096 < result < 0:
        raise OSError(-result, os.strerror(-result))
    return result


def reap(pid):
    """End the second process that an attack made, and wait for it."""
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def program(text):
    """The smallest static program of its kind: it prints text and exits (x86-64, elf(5))."""
    code = (b"\xbf\x01\x00\x00\x00" b"\x48\x8d\x35\x15\x00\x00\x00"  # mov edi,1; lea rsi,[rip+21]
            b"\xba" + struct.pack("<I", len(text)) +                 # mov edx,len
            b"\xb8\x01\x00\x00\x00\x0f\x05"                          # mov eax,1; syscall
            b"\xb8\x3c\x00\x00\x00\x31\xff\x0f\x05")                 # mov eax,60; xor edi,edi; syscall
    size = 64 + 56 + len(code) + len(text)
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, size, size, 4096) + code + text


def see(path):
    """Read a little of a file, by the shortest way to the kernel."""
    fd = os.open(path, os.O_RDONLY)
    text = os.read(fd, 64)
    os.close(fd)
    return text


def put(path, flags=os.O_WRONLY | os.O_CREAT):
    """Write to a file, by the shortest way to the kernel."""
    fd = os.open(path, flags, 0o600)
    os.write(fd, b"written by a probe\n")
    os.close(fd)
