package sandbox

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cloche/internal/snippet"
)

// honestUses are what programs ask about themselves and their machine, which the
// filter must not break on its way to keep them from asking about others. Each
// prints True and nothing else.
var honestUses = []struct {
	name      string
	unguarded bool // it needs what the guard refuses
	code      string
}{
	{"cores", false, "print(1 <= len(os.sched_getaffinity(0)) <= os.cpu_count() == os.sysconf('SC_NPROCESSORS_ONLN'))"},
	{"its own number", false, "me = os.getpid()\nprint(os.sched_getaffinity(me) == os.sched_getaffinity(0) and os.getsid(me) == os.getsid(0) and os.getpgid(me) == os.getpgid(0) == os.getpgrp())"},
	{"a refused question", false, "import errno\ntry:\n    os.getsid(os.getppid())\nexcept PermissionError as e:\n    print(e.errno == errno.EPERM)"},
	{"cores in a thread", false, "import threading\nseen = []\nt = threading.Thread(target=lambda: seen.append(os.sched_getaffinity(0)))\nt.start()\nt.join()\nprint(seen == [os.sched_getaffinity(0)])"},
	{"pool of threads", false, "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n    print(list(pool.map(abs, range(-100, 0))) == list(range(100, 0, -1)))"},
	{"asyncio", false, "import asyncio\nasync def main():\n    await asyncio.sleep(0.01)\n    return await asyncio.gather(*[asyncio.to_thread(sum, [i, 1]) for i in range(20)])\nprint(asyncio.run(main()) == list(range(1, 21)))"},
	{"clocks", false, "import time\nclocks = [getattr(time, n) for n in dir(time) if n.startswith('CLOCK_')]\nprint(all(time.clock_gettime(c) >= 0 and time.clock_getres(c) > 0 for c in clocks if c < 12) and time.thread_time() > 0 and time.process_time() > 0)"},
	{"memory of the machine", false, "print(type(os.sysconf('SC_PHYS_PAGES')) is int and type(os.sysconf('SC_AVPHYS_PAGES')) is int)"},
	{"memory of no file", true, "import mmap\nmaps = [mmap.mmap(-1, 1 << 16), mmap.mmap(-1, 1 << 16, access=mmap.ACCESS_WRITE), mmap.mmap(fileno=-1, length=1 << 16, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)]\nfor m in maps:\n    m[:4] = b'text'\n    m.resize(1 << 17)\n    m.flush()\nprint(all(m[:4] == b'text' and len(m) == 1 << 17 and type(m) is mmap.mmap for m in maps))"},
	{"memory of a file", true, "import mmap\nif not opens:\n    print(True)\nelse:\n    with open('file', 'w+b') as file:\n        file.write(bytes(1 << 16))\n        file.flush()\n        with mmap.mmap(file.fileno(), 0) as m, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as r:\n            m[:4] = b'text'\n            m.flush()\n            m.madvise(mmap.MADV_RANDOM)\n            print(r[:4] == b'text')"},
	{"database", false, "import sqlite3\nif not opens:\n    print(True)\nelse:\n    one = sqlite3.connect('db')\n    one.execute('pragma journal_mode = wal')\n    one.execute('create table t (a)')\n    two = sqlite3.connect('db', timeout=0)\n    with one:\n        one.execute('insert into t values (1)')\n        try:\n            two.execute('insert into t values (2)')\n            print('two writers')\n        except sqlite3.OperationalError as e:\n            print('locked' in str(e))"},
	{"limits", true, "import resource as r\nhard = r.getrlimit(r.RLIMIT_NOFILE)[1]\nr.setrlimit(r.RLIMIT_NOFILE, (9, hard))\nr.setrlimit(r.RLIMIT_STACK, (1 << 20, 1 << 20))\nprint(r.getrlimit(r.RLIMIT_NOFILE) == (9, hard))"},
	{"a signal to itself", true, "import signal\nseen = []\nsignal.signal(signal.SIGUSR1, lambda *_: seen.append(1))\nos.kill(os.getpid(), signal.SIGUSR1)\nsignal.raise_signal(signal.SIGUSR1)\nprint(seen == [1, 1])"},
	// qsort(3) asks how much memory there is when it is given much to sort.
	{"sorting in C", true, "import ctypes\nn = 1 << 20\nitems = (ctypes.c_int * n)(*range(n, 0, -1))\norder = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(lambda a, b: a[0] - b[0])\nlibc = ctypes.CDLL(None)\nlibc.qsort(ctypes.byref(items), n // 64, 4, order)\nprint(items[0] < items[1] < items[n // 64 - 1])"},
	// What numerical libraries do in each of their threads (pthread_getaffinity_np(3)). Another thread than
	// the first is refused, which they take for an unknown number of cores.
	{"cores by thread", true, "import ctypes, errno, threading\nlibc = ctypes.CDLL(None)\nlibc.pthread_self.restype = ctypes.c_void_p\nask = lambda: libc.pthread_getaffinity_np(ctypes.c_void_p(libc.pthread_self()), ctypes.c_size_t(128), ctypes.create_string_buffer(128))\nseen = [ask()]\nt = threading.Thread(target=lambda: seen.append(ask()))\nt.start()\nt.join()\nprint(seen in ([0, errno.EPERM], [0, 0]))"},
}

func TestHonestUses(t *testing.T) {
	for _, u := range honestUses {
		t.Run(u.name, func(t *testing.T) {
			boxes := []*Sandbox{unguarded.get(t)}
			if !u.unguarded {
				boxes = append(boxes, shared.get(t))
			}
			for _, s := range boxes {
				if u.name == "a refused question" && !s.layers.seccomp {
					t.Skip("NOT TESTED: this machine has no filter")
				}
				opens := 1
				if s.layers.wall == wallNoFiles {
					opens = 0
				}
				r := s.run(t, job(fmt.Sprintf("import sys\nos, opens = sys.modules['os'], %d\n%s", opens, u.code)))
				if r.Reason != snippet.Completed || r.Stdout != "True\n" {
					t.Errorf("guard %t: %s, %q, %s", !s.weaken.guard, r.Reason, r.Stdout, r.Stderr)
				}
			}
		})
	}
}

// TestNoProgramForACrash reads the one limit that keeps the kernel from starting a
// program of the host's for a crash; limitCore in internal/guard says why it is 1.
func TestNoProgramForACrash(t *testing.T) {
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &own); err != nil || own.Max == 0 && os.Geteuid() != 0 {
		t.Skipf("NOT TESTED: the limit is 0 here, and only root can raise it (%v)", err)
	}
	r := unguarded.get(t).run(t, job("import resource\nprint(resource.getrlimit(resource.RLIMIT_CORE))"))
	if r.Stdout != "(1, 1)\n" {
		t.Errorf("%q, want a limit of 1; %s", r.Stdout, r.Stderr)
	}
}

// TestHuntFinds shows that a hunt for another run's name finds one that is there
// to be found, wherever it lies: else that it finds none would prove nothing.
func TestHuntFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: -short")
	}
	var hunter probe
	for _, p := range readProbes(t) {
		if p.name == "hunt_name_sibling" {
			hunter = p
		}
	}
	// Letter by letter, so that no whole name lies where the plant did not put it.
	const spell = "letter = lambda i: b'run-'[i] if i < 4 else b'A2'[i % 2]\n"
	for where, plant := range map[string]struct{ code, means string }{
		"nowhere":          {"", "HELD"},
		"a text":           {"leak = ''.join(chr(letter(i)) for i in range(30))", "objects"},
		"a wide text":      {"leak = '\U0001f600' + ''.join(chr(letter(i)) for i in range(30))", "objects"},
		"a text in C":      {"leak = ctypes.create_string_buffer(64)\nfor i in range(30): leak[i] = letter(i)", "memory"},
		"a wide one in C":  {"leak = ctypes.create_unicode_buffer(64)\nfor i in range(30): leak[i] = chr(letter(i))", "memory"},
		"pages of its own": {"import mmap\nleak = mmap.mmap(-1, 1 << 20)\nfor i in range(30): leak[65521 + i] = letter(i)", "memory"},
		"the environment":  {"at = ctypes.POINTER(ctypes.c_void_p).in_dll(libc, 'environ')[0]\nfor i in range(30): ctypes.c_char.from_address(at + i).value = letter(i)", "memory"},
	} {
		t.Run(where, func(t *testing.T) {
			program := scene{}.program(t, hunter)
			at := strings.LastIndex(program, "\nwith attempt")
			j := job(program[:at] + "\n" + spell + plant.code + program[at:])
			j.Request.Timeout = probeTimeout
			r := unguarded.get(t).run(t, j)
			if !strings.Contains(r.Stdout, plant.means) || plant.means != "HELD" && !strings.HasPrefix(r.Stdout, "PASSED") {
				t.Errorf("%q, want %s; %s", r.Stdout, plant.means, r.Stderr)
			}
		})
	}
}
