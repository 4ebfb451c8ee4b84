# What every probe is given: the scene C (a JSON object that the test puts in
# front of this text) and the means of an attacker who got round the guard.
import ctypes
import errno
import gc
import glob
import json
import os
import platform
import re
import socket
import struct
import sys
import time

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

    YES, NO = "PASSED", "HELD"

    def __init__(self, won, *also):
        self.won, self.refusals = won, REFUSALS.union(also)

    def __enter__(self):
        return self

    def __exit__(self, kind, e, _):
        if kind is None:
            line = f"{self.YES} {self.won}"
        elif kind is Refused:
            line = f"{self.NO} {e}"
        elif isinstance(e, OSError) and e.errno in self.refusals:
            line = f"{self.NO} {errno.errorcode[e.errno]}"
        else:
            line = f"BROKEN {kind.__name__}: {e}"
        os.write(1, line.encode() + b"\n")
        return True


class look(attempt):
    """The same for a block that attacks nothing, and looks at what there is to see."""

    YES, NO = "SEEN", "HIDDEN"


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


def token():
    """What makes a report count: it is in the harness's frames."""
    frame = sys._getframe()
    while frame is not None and not hasattr(frame.f_locals.get("self"), "_token"):
        frame = frame.f_back
    if frame is None:
        raise Refused("there is no verdict to forge")
    return frame.f_locals["self"]._token


def work(here=True):
    """Do what the test knows the measure of, so that a lie about it shows: probes_lies_test.go has the
    same numbers. What another process is to do is left out here. What is printed comes last: it shows
    that all the rest is done."""
    try:
        with open("kept.txt", "x") as file:
            file.write("all that was kept\n")
    except PermissionError:
        pass  # no run can keep a file where no wall stands between files
    if here:
        toil()
    time.sleep(0.1)
    os.write(2, b"all that was complained\n")
    os.write(1, b"all that was printed\n")


def toil():
    memory = bytearray(64 << 20)
    memory[::4096] = b"x" * len(memory[::4096])
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass


def tell(begin, **words):
    """Send a report with words of one's own choice; the server ends a run that it believes."""
    told = {"end": "completed", "exit_code": 0, "value": "LIE", "error": None, "refused": None,
            "memory": False, "disk": False, "blocked_count": 0}
    os.write(3, begin + b"R" + json.dumps(told | words).encode())


def ended():
    """Wait to be ended for a report: long, since the machine may be busy."""
    time.sleep(60)
    raise RuntimeError("the run goes on")


# What the names of runs' folders look like.
NAME = re.compile(rb"run-[A-Z2-7]{26}")


def own_place():
    """The folder that holds the runs' folders, and the name of one's own there."""
    base, name = os.path.split(os.path.dirname(os.getcwd()))
    return base, name.encode()


def hunt():
    """Look by every means that a process has, with nothing given away, for the folders of other runs
    beside one's own; return their paths, and by what means each was found."""
    base, own = own_place()
    found = {}
    for means in (watched, listed, processes, files, objects, descriptors, memory):
        for text in means(base, own):
            for name in NAME.findall(text) if b"run-" in text else ():
                if name != own:
                    found.setdefault(os.path.join(base, name.decode()), means.__name__)
    return found


def hunted(act):
    """Do something with the folder of another run; the name of the means that found it."""
    found, error = hunt(), None
    for folder, means in found.items():
        try:
            act(folder + "/work")
            return means
        except OSError as e:
            error = e
    raise error or Refused("no name of another run's folder is to be found")


def tried(act, *args):
    """What act returns, as bytes to search; nothing if it fails."""
    try:
        result = act(*args)
    except (OSError, ValueError):
        return b""
    if isinstance(result, (list, tuple)):
        return b"\n".join(map(os.fsencode, result))
    return os.fsencode(result)


def whole(path):
    with open(path, "rb") as file:
        return file.read()


def listed(base, own):
    """Folders by their entries: the base, what the server has in it, those above, and where others lie."""
    tried(lambda: os.chmod(base, 0o700) or b"")  # it is closed even to its owner
    places = {base, base + "/root", base + "/lock", "/tmp", "/var/tmp", "/dev/shm", "/run"}
    at = base
    while at != "/":
        at = os.path.dirname(at)
        places.add(at)
    for place in places:
        yield tried(os.listdir, place)
        yield tried(whole, place)
        yield tried(lambda: [e.path for e in os.scandir(place)])
    for pattern in ("/run-*", "/*/run-*", "/cloche-*"):
        yield tried(glob.glob, base + pattern)
        yield tried(glob.glob, os.path.dirname(base) + pattern)


def watched(base, own):
    """The base's comings and goings, while other runs come and go."""
    try:
        fd = call((294, 26), os.O_NONBLOCK)
        call((254, 27), fd, os.fsencode(base), 0xFFF)
    except OSError:
        return
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        try:
            yield os.read(fd, 1 << 16)
        except BlockingIOError:
            time.sleep(0.02)


def processes(base, own):
    """What /proc says of every process. A number needs no list: they are given one after the other."""
    near = range(max(1, os.getpid() - 200), os.getpid() + 200)
    numbers = {"self", "thread-self", str(os.getppid()), *map(str, near)}
    numbers.update(n for n in tried(os.listdir, "/proc").decode().split() if n.isdigit())
    for number in numbers:
        if not os.path.exists(f"/proc/{number}"):
            continue
        for link in ("cwd", "root", "exe", *(f"fd/{n}" for n in range(16))):
            yield tried(os.readlink, f"/proc/{number}/{link}")
        for name in ("environ", "cmdline", "maps", "mountinfo", "mounts", "status", "stack"):
            yield tried(whole, f"/proc/{number}/{name}")
        yield tried(os.listdir, f"/proc/{number}/map_files")


def files(base, own):
    """What the kernel and the host keep on paths."""
    for path in ("/proc/mounts", "/proc/locks", "/proc/net/unix", "/proc/keys", "/etc/mtab", "/var/log/syslog"):
        yield tried(whole, path)


def objects(base, own):
    """Every text that an object of the interpreter leads to, and the locals of every frame."""
    frame, texts = sys._getframe(), []
    while frame is not None:
        texts += [repr(value) for value in frame.f_locals.values()]
        frame = frame.f_back
    gc.unfreeze()  # what the template had set aside
    for thing in gc.get_objects():
        texts += [part for part in gc.get_referents(thing) if type(part) in (str, bytes, bytearray)]
    yield b"\n".join(t.encode("utf-8", "replace") if type(t) is str else bytes(t) for t in texts)


def descriptors(base, own):
    """What lies in its own descriptors, and where they come from."""
    buffer = ctypes.create_string_buffer(1 << 18)
    for fd in range(64):
        yield tried(os.readlink, f"/proc/self/fd/{fd}")
        n = libc.recvfrom(fd, buffer, ctypes.c_size_t(len(buffer)), 0x42, None, None)  # MSG_PEEK, MSG_DONTWAIT
        yield buffer.raw[:max(n, 0)]


def memory(base, own):
    """All of its memory that can be read. It began as a copy of the template's, which makes all runs.

    Nothing says what is mapped, so this walks from every address that it knows until nothing has come
    for a while. The kernel reads for it, since it does not die of an address that is none.
    """
    page, gap = os.sysconf("SC_PAGESIZE"), 32 << 20
    step = 16 * page
    out, into = os.pipe()
    os.set_blocking(into, False)

    def readable(at):
        data = b""
        while len(data) < step:
            n = libc.write(into, ctypes.c_void_p(at + len(data)), ctypes.c_size_t(step - len(data)))
            if n > 0:
                data += os.read(out, n)
            else:
                data += nothing[:page]  # a hole
        return data

    seen, whole_name, nothing = set(), False, bytes(step)
    for anchor in sorted({a - a % step for a in anchors()}):
        for direction in (step, -step):
            at, empty, before = anchor if direction > 0 else anchor - step, 0, b""
            while 0 < at < 1 << 47 and empty < gap and at not in seen:
                seen.add(at)
                data = readable(at)
                if data == nothing:
                    empty, before = empty + step, b""
                else:
                    # A name may lie across two pieces, and in an encoding with more bytes.
                    text = before + data if direction > 0 else data + before
                    whole_name = whole_name or own in text
                    yield text
                    if b"r\0u\0n\0" in text or b"r\0\0\0u\0\0\0n\0" in text:
                        yield text.translate(None, b"\0")
                    empty, before = 0, data[-256:] if direction > 0 else data[:256]
                at += direction
    if not whole_name:
        raise RuntimeError("not even its own name was found in its memory")


def anchors():
    """Addresses that surely are its own: of objects, of the C library, of the heap and the stack."""
    for thing in (*gc.get_objects(), None, True, int, print, sys.stdout, C):
        yield id(thing)
    libc.sbrk.restype = ctypes.c_void_p
    yield libc.sbrk(ctypes.c_long(0)) - 1
    for function in (libc.malloc, libc.write, libc.environ, ctypes.pythonapi.Py_GetVersion):
        yield ctypes.cast(function, ctypes.c_void_p).value
    for size in (1, 1 << 12, 1 << 20, 1 << 24):
        buffer = ctypes.create_string_buffer(size)
        yield ctypes.addressof(buffer)
    environ = ctypes.POINTER(ctypes.c_void_p).in_dll(libc, "environ")
    at = 0
    while environ[at]:
        yield environ[at]
        at += 1
