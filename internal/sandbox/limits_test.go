package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/snippet"
	"cloche/internal/sys"
)

// hostile is what code begins with that got round the guard.
const hostile = `import ctypes, mmap, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
MIB = b"x" * (1 << 20)

def many_mappings(n):
    base = libc.mmap(None, n * 8192, 1, 0x22, -1, 0)
    for i in range(n):
        libc.mprotect(base + i * 8192, 4096, 3)

def nameless(mib):
    fd = os.open("n", os.O_CREAT | os.O_RDWR, 0o600)
    os.unlink("n")
    for _ in range(mib):
        os.write(fd, MIB)
    return fd
`

// floodThreads makes threads that only wait, until no more are to be had.
const floodThreads = hostile + `
made = 0
threading.stack_size(1 << 15)
def wait():
    time.sleep(30)
try:
    for _ in range(%d):
        threading.Thread(target=wait, daemon=True).start()
        made += 1
except RuntimeError:
    pass
print(made, flush=True)
time.sleep(20)
`

// TestLimitsHold: each way past a limit that is looked at ends the run with the
// reason of that limit, whatever else the run does to make looking dear.
func TestLimitsHold(t *testing.T) {
	s := unguarded.withFiles(t)
	for name, c := range map[string]struct {
		code string
		want snippet.Reason
	}{
		"nameless files": {hostile + "kept = [nameless(30) for _ in range(8)]\ntime.sleep(20)", snippet.DiskLimit},
		"nameless files in threads": {hostile + `
def fill():
    kept = [nameless(30) for _ in range(4)]
    time.sleep(20)
for _ in range(4): threading.Thread(target=fill).start()
`, snippet.DiskLimit},
		"mapped, closed and unlinked": {hostile + `
for _ in range(8):
    fd = nameless(30)
    libc.mmap(None, 4096, 1, 1, fd, 0)
    os.close(fd)
time.sleep(20)
`, snippet.DiskLimit},
		"mapped behind a path of 80 KiB": {hostile + `
many_mappings(20000)
name = "y" * 255
for _ in range(310):
    os.mkdir(name); os.chdir(name)
fd = os.open("f", os.O_CREAT | os.O_RDWR, 0o600)
os.write(fd, b"x" * 4096)
libc.mmap(0x20000, 4096, 1, 0x11, fd, 0)
os.close(fd); os.unlink("f")
for _ in range(310):
    os.chdir(".."); os.rmdir(name)
for _ in range(8):
    fd = nameless(30)
    libc.mmap(None, 4096, 1, 1, fd, 0)
    os.close(fd)
time.sleep(20)
`, snippet.DiskLimit},
		"stored into a mapping": {hostile + `
kept = []
for n in range(8):
    fd = os.open("m", os.O_CREAT | os.O_RDWR, 0o600)
    os.unlink("m")
    os.ftruncate(fd, 40 << 20)
    at = libc.mmap(None, 40 << 20, 3, 1, fd, 0)
    for page in range(0, 40 << 20, 4096):
        ctypes.memset(at + page, 1, 1)
    libc.munmap(ctypes.c_void_p(at), ctypes.c_size_t(40 << 20))
    kept.append(fd)
time.sleep(20)
`, snippet.DiskLimit},
		"files moved about": {hostile + `
os.mkdir("a"); os.mkdir("b")
def move():
    here, there = "a/", "b/"
    while True:
        for name in os.listdir(here):
            os.rename(here + name, there + name)
        here, there = there, here
threading.Thread(target=move, daemon=True).start()
for n in range(20):
    with open(f"a/{n}", "wb", buffering=0) as f:
        for _ in range(20): f.write(MIB)
time.sleep(20)
`, snippet.DiskLimit},
		"many folders": {hostile + `
many_mappings(20000)
for n in range(60000): os.mkdir(str(n))
time.sleep(20)
`, snippet.DiskLimit},
		"a deep folder": {hostile + `
for n in range(9000): os.mkdir(str(n))
for n in range(5000):
    os.mkdir("d"); os.chdir("d")
time.sleep(20)
`, snippet.DiskLimit},
		"page tables": {hostile + `
for n in range(60000):
    at = libc.mmap((n + 1) << 30, 4096, 3, 0x100022, -1, 0)
    if at == (n + 1) << 30: ctypes.memset(at, 1, 1)
time.sleep(20)
`, snippet.MemoryLimit},
		"threads": {fmt.Sprintf(floodThreads, 400), snippet.ThreadLimit},
		"a flood of the channel": {hostile + `
big = b"x" * 100000
try:
    while True: os.write(3, big)
except OSError: pass
time.sleep(20)
`, snippet.OperationDenied},
		"a flood of empty packets": {hostile + `
s = socket.socket(fileno=os.dup(3))
while True: s.send(b"")
`, snippet.OperationDenied},
	} {
		t.Run(name, func(t *testing.T) {
			j := job(c.code)
			j.Request.Timeout = 15 * time.Second
			began := time.Now()
			r := s.run(t, j)
			wellFormed(t, r)
			if r.Reason != c.want {
				t.Errorf("got %s (%s) after %v: %s %s", r.Outcome, r.Reason, time.Since(began), r.Stdout, r.Stderr)
			}
		})
	}
	s.settled(t, fixtureWorkers)
}

// TestAnswerDoesNotWait: once the deadline has come, neither much memory that the
// kernel has to take back nor many folders keep the answer. What nobody looked at is
// told as omitted.
func TestAnswerDoesNotWait(t *testing.T) {
	s := unguarded.get(t)
	j := job(hostile + `
many_mappings(31000)
for n in range(9900): os.mkdir(str(n))
print("ready", flush=True)
time.sleep(20)
`)
	j.Request.Timeout = 4 * time.Second
	r := s.run(t, j)
	wellFormed(t, r)
	if r.Reason != snippet.Deadline || r.Stdout != "ready\n" || r.FilesOmitted != 1 {
		t.Errorf("got %s (%s), %d files omitted: %s", r.Outcome, r.Reason, r.FilesOmitted, r.Stdout)
	}
	s.settled(t, fixtureWorkers)
}

// TestThreadsAreCounted: as many as there may be, and not one more.
func TestThreadsAreCounted(t *testing.T) {
	s := unguarded.get(t)
	if !s.layers.namespace {
		t.Skipf("NOT TESTED: no user namespaces here (%s)", s.layers.kernel.Refused)
	}
	limit := job("").Limits.Threads
	r := s.run(t, job(strings.Replace(fmt.Sprintf(floodThreads, 3*limit), "time.sleep(20)", "", 1)))
	if want := fmt.Sprintln(limit); r.Stdout != want {
		t.Errorf("%q threads beside the first, want %q", r.Stdout, want)
	}
	within := fmt.Sprintf(floodThreads, limit-1)
	if r := s.run(t, job(strings.Replace(within, "time.sleep(20)", "time.sleep(0.2)", 1))); r.Outcome != snippet.OK {
		t.Errorf("%d threads: %+v", limit, r)
	}
}

// TestFloodsSideBySide: what one run takes, the runs beside it do not lack.
func TestFloodsSideBySide(t *testing.T) {
	s := unguarded.get(t)
	if !s.layers.namespace {
		t.Skipf("NOT TESTED: no user namespaces here (%s)", s.layers.kernel.Refused)
	}
	var runs sync.WaitGroup
	for range 3 {
		runs.Go(func() { s.run(t, job(fmt.Sprintf(floodThreads, 1000))) })
	}
	for range 3 {
		runs.Go(func() {
			r := s.run(t, job("import threading\nts = [threading.Thread(target=print, args=(i,)) for i in range(20)]\nfor t in ts: t.start()\nfor t in ts: t.join()"))
			if r.Outcome != snippet.OK || strings.Count(r.Stdout, "\n") != 20 {
				t.Errorf("beside floods: %+v", r)
			}
		})
	}
	runs.Wait()
}

// TestNoUserNamespace: then limits are looked at, and the layers say so.
func TestNoUserNamespace(t *testing.T) {
	s := newSandbox(t, Config{weaken: weaken{refuse: []string{"user_namespace"}, guard: true}})
	report := s.layers.report()
	for _, l := range report {
		if l.Name == LayerThreads && (l.Active || !strings.Contains(l.Detail, "taken away")) {
			t.Errorf("layer %+v", l)
		}
	}
	if r := s.run(t, job(fmt.Sprintf(floodThreads, 400))); r.Reason != snippet.ThreadLimit {
		t.Errorf("got %s (%s)", r.Outcome, r.Reason)
	}
}

// TestLooksThatFail: no run is OK that could not be looked at, whichever call of a
// look fails and however.
func TestLooksThatFail(t *testing.T) {
	s := unguarded.withFiles(t)
	codes := map[string]string{
		"files":    "open('f', 'w').write('x')\nimport time\ntime.sleep(0.05)",
		"no files": "import time\ntime.sleep(0.05)\nfor i in range(10**6): pass",
		"weighed":  hostile + "import os\nfd = nameless(10)\nfor _ in range(20):\n    with open('g', 'wb') as f: f.write(MIB * 8)\n    os.unlink('g')\ntime.sleep(0.05)",
	}
	for name, code := range codes {
		if r := s.run(t, job(code)); r.Outcome != snippet.OK {
			t.Fatalf("%s, nothing fails: %+v", name, r)
		}
		fired := map[string]bool{}
		for _, call := range []string{"openat", "pread", "read", "getdents", "fstatat"} {
			if call == "read" && name != "weighed" {
				continue // only whether the child has ended: its death tells that too
			}
			for _, fault := range []unix.Errno{unix.EMFILE, unix.ENOMEM, unix.EACCES} {
				for _, from := range []int64{1, 4, 12} {
					var calls atomic.Int64
					restore := sys.Inject(func(made string) error {
						if made == call && calls.Add(1) >= from {
							return fault
						}
						return nil
					})
					r, err := s.Run(context.Background(), job(code))
					done := calls.Load()
					restore()
					if done < from || err != nil {
						continue // so many are not made, or nothing ran
					}
					fired[call] = true
					if r.Reason != snippet.SandboxFailure {
						t.Errorf("%s, %s fails with %v from call %d on: %s (%s)", name, call, fault, from, r.Outcome, r.Reason)
					}
				}
			}
		}
		if !fired["openat"] || !fired["pread"] || !fired["getdents"] || name == "weighed" && (!fired["fstatat"] || !fired["read"]) {
			t.Errorf("%s: calls that failed: %v", name, fired)
		}
	}
	s.settled(t, fixtureWorkers)
}

// TestChildThatDoesNotDie is about a child in a state in which SIGKILL waits: here
// somebody froze it. That run is a failure of the sandbox; those beside it, and
// their template, go on.
func TestChildThatDoesNotDie(t *testing.T) {
	freezer := newFreezer(t)
	s, before := fresh(t, Config{})
	var long, frozen snippet.Result
	var runs sync.WaitGroup
	runs.Go(func() {
		j := job("open('f', 'w').write('x')\nprint('begun')\nimport time\ntime.sleep(9)")
		j.Request.Timeout = time.Second
		frozen = s.run(t, j)
	})
	pid := 0
	for end := time.Now().Add(5 * time.Second); pid == 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, folder := range s.runFolders(t) {
			if _, err := os.Stat(filepath.Join(folder, "work", "f")); err == nil {
				pid = s.childIn(folder)
			}
		}
	}
	if pid == 0 {
		t.Fatal("the run is not found")
	}
	freezer.freeze(t, pid)
	template := s.living()
	runs.Go(func() {
		j := job("import time\ntime.sleep(9)\nprint('whole')")
		j.Request.Timeout = 20 * time.Second
		long = s.run(t, j)
	})
	for range 16 {
		s.fine(t)
		time.Sleep(500 * time.Millisecond)
	}
	freezer.thaw(t)
	runs.Wait()
	if frozen.Reason != snippet.SandboxFailure || len(frozen.Files) != 0 {
		t.Errorf("the frozen run: %+v", frozen)
	}
	if long.Outcome != snippet.OK || long.Stdout != "whole\n" {
		t.Errorf("a run beside it: %+v", long)
	}
	if s.living() != template {
		t.Error("the template is another one")
	}
	s.backTo(t, before)
}

// childIn is the process that works in a run's folder.
func (s *Sandbox) childIn(folder string) int {
	for _, pid := range s.waiting() {
		if cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); cwd == filepath.Join(folder, "work") {
			return pid
		}
	}
	return 0
}

// freezer is a control group whose processes can be held, of either version.
type freezer struct{ dir, file, on, off string }

func newFreezer(t *testing.T) freezer {
	t.Helper()
	name := fmt.Sprintf("cloche-test-%d", os.Getpid())
	for _, f := range []freezer{
		{"/sys/fs/cgroup/freezer/" + name, "freezer.state", "FROZEN", "THAWED"},
		{"/sys/fs/cgroup/" + name, "cgroup.freeze", "1", "0"},
	} {
		if os.Mkdir(f.dir, 0o700) != nil {
			continue
		}
		t.Cleanup(func() {
			f.thaw(t)
			for range 100 { // until the kernel has taken its processes out
				if os.Remove(f.dir) == nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
		if _, err := os.Stat(filepath.Join(f.dir, f.file)); err == nil {
			return f
		}
	}
	t.Skip("NOT TESTED: no control group that can be frozen may be made here")
	return freezer{}
}

func (f freezer) set(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, file), []byte(text), 0o600); err != nil {
		t.Error(err)
	}
}

func (f freezer) freeze(t *testing.T, pid int) {
	t.Helper()
	f.set(t, "cgroup.procs", fmt.Sprint(pid))
	f.set(t, f.file, f.on)
}

func (f freezer) thaw(t *testing.T) {
	t.Helper()
	f.set(t, f.file, f.off)
}

// TestNamesStayApart: two names never come out the same.
func TestNamesStayApart(t *testing.T) {
	names := []string{
		"\xff", `\xff`, `\x5cxff`, `\\xff`, "\\x\xff", `\xf`, "\x0f", `a\xffb`, "a\xffb", `\x5c`, `\`, "\\\xff", `\xFF`,
	}
	shown := map[string]string{}
	for _, name := range names {
		p := printable(name)
		if other, taken := shown[p]; taken {
			t.Errorf("%q and %q are both %q", name, other, p)
		}
		shown[p] = name
	}
	if p := printable(`C:\temp\x1.txt`); p != `C:\temp\x1.txt` {
		t.Errorf("an ordinary name is %q", p)
	}
}

func TestRoom(t *testing.T) {
	for name, c := range map[string]struct {
		room   room
		warns  bool
		refuse bool
	}{
		"enough":  {room{4 * 257, "x"}, false, false},
		"little":  {room{4*257 - 1, "ulimit -u, 400,"}, true, false},
		"nothing": {room{leastRoom - 1, "x"}, false, true},
	} {
		warning, err := c.room.check(4, 256)
		if (warning != "") != c.warns || (err != nil) != c.refuse {
			t.Errorf("%s: %q, %v", name, warning, err)
		}
	}
}

// TestRoomIsNoMoreThanAChildMaySet: a container often has a hard limit, which no
// child of it can raise.
func TestRoomIsNoMoreThanAChildMaySet(t *testing.T) {
	r := room{30000, "kernel.pid_max"}
	if got := r.within(1024); got.tasks != 1024 || !strings.Contains(got.by, "1024") {
		t.Errorf("got %+v", got)
	}
	if got := r.within(1<<64 - 1); got != r {
		t.Errorf("without a limit: %+v", got)
	}
}

// TestRoomLeavesTheServerItsOwn: under a low limit on processes all runs together
// leave the server enough.
func TestRoomLeavesTheServerItsOwn(t *testing.T) {
	limit := tasksOf(59999) + 300 // nobody's: 300
	if r := findRoom(identity{uid: 59999}); r.tasks <= 0 {
		t.Fatalf("no room: %+v", r)
	}
	if os.Geteuid() == 0 {
		return // no limit on processes binds root
	}
	mine := tasksOf(os.Geteuid())
	lower(t, unix.RLIMIT_NPROC, uint64(mine+limit))
	if r := findRoom(identity{uid: os.Geteuid()}); r.tasks > mine+limit-serverTasks {
		t.Errorf("room for %+v of %d", r, mine+limit)
	}
}
