package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/snippet"
)

// fresh is a sandbox of its own for a test that breaks something under it.
func fresh(t *testing.T, cfg Config) (*Sandbox, census) {
	t.Helper()
	cfg.Workers = fixtureWorkers
	s := newSandbox(t, cfg)
	s.fine(t)
	return s, s.settled(t, fixtureWorkers)
}

// fine runs a job that must succeed.
func (s *Sandbox) fine(t *testing.T) {
	t.Helper()
	if r := s.run(t, job("print('fine')")); r.Outcome != snippet.OK || r.Stdout != "fine\n" {
		t.Fatalf("the next run: %+v", r)
	}
}

// unavailable runs a job that no child can be had for.
func (s *Sandbox) unavailable(t *testing.T, j snippet.Job) {
	t.Helper()
	r, err := s.Run(context.Background(), j)
	if !errors.Is(err, snippet.ErrUnavailable) {
		t.Fatalf("got %+v, %v, want no sandbox", r, err)
	}
}

// lower sets a soft limit of this process until the returned function is called.
func lower(t *testing.T, resource int, soft uint64) (restore func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(resource, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: soft, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	restore = func() {
		if err := unix.Setrlimit(resource, &old); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(restore)
	return restore
}

// TestTemplateKilledAtEachStep kills it at random moments of its start, of a
// fork and of a run. Whatever the moment, each run has one of the outcomes that
// are true then, and the one after the last kill is fine.
func TestTemplateKilledAtEachStep(t *testing.T) {
	s, before := fresh(t, quiet)
	var kills sync.WaitGroup
	for range 15 {
		if victim := s.living(); victim != nil {
			after := rand.N(30 * time.Millisecond)
			kills.Go(func() {
				time.Sleep(after)
				_ = victim.cmd.Process.Kill()
			})
		}
		r, err := s.Run(context.Background(), job("import time\ntime.sleep(0.01)"))
		if !errors.Is(err, snippet.ErrUnavailable) && (err != nil || r.Outcome != snippet.OK && r.Reason != snippet.SandboxFailure) {
			t.Errorf("got %+v, %v", r, err)
		}
	}
	kills.Wait()
	if t := s.living(); t != nil {
		t.kill() // whatever a late kill hit, this one is seen
	}
	s.fine(t)
	s.backTo(t, before)
}

func TestWaitingChildrenKilled(t *testing.T) {
	s, before := fresh(t, quiet)
	for range 5 {
		for _, p := range s.waiting() {
			_ = unix.Kill(p, unix.SIGKILL)
			for end := time.Now().Add(10 * time.Second); threads(p) > 0 && time.Now().Before(end); {
				time.Sleep(time.Millisecond) // until it can take no job any more
			}
		}
		s.fine(t) // what was dead did not get the job; another child did
	}
	s.backTo(t, before)
}

// waiting lists the children of the living template.
func (s *Sandbox) waiting() (pids []int) {
	parent := s.living().cmd.Process.Pid
	for _, p := range everyProc() {
		if p.parent == parent {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

func TestRunningChildKilled(t *testing.T) {
	s, before := fresh(t, Config{})
	waiting := s.waiting()
	go func() {
		time.Sleep(200 * time.Millisecond)
		for _, pid := range waiting {
			_ = unix.Kill(pid, unix.SIGKILL) // the one that runs is among them
		}
	}()
	r := s.run(t, job("print('begun')\nimport time\ntime.sleep(4)"))
	time.Sleep(300 * time.Millisecond)
	if r.Reason != snippet.Signal || r.Signal == nil || *r.Signal != "SIGKILL" || r.ExitCode != nil || r.Stdout != "begun\n" {
		t.Errorf("got %+v", r)
	}
	s.fine(t)
	s.backTo(t, before)
}

// TestForkFails takes away every process but the template itself. The limit
// counts the processes of a user, so it needs one that has no others.
func TestForkFails(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives snippets a user whose processes can be counted")
	}
	cfg := quiet
	cfg.weaken.uid = 59761
	s, before := fresh(t, cfg)
	restore := lower(t, unix.RLIMIT_NPROC, 1)
	s.living().kill() // the next one has the limit
	s.unavailable(t, job("print(1)"))
	restore()
	if t := s.living(); t != nil {
		t.kill() // the next one has the old limit
	}
	s.fine(t)
	s.backTo(t, before)
}

func TestNoDescriptorsLeft(t *testing.T) {
	s, before := fresh(t, quiet)
	restore := lower(t, unix.RLIMIT_NOFILE, uint64(before.fds+3))
	var taken []int
	var err error
	for range 50 { // what a run gives back is taken before the next child is made
		taken = append(taken, hog()...)
		if _, err = s.Run(context.Background(), job("print(1)")); err != nil {
			break
		}
	}
	if !errors.Is(err, snippet.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	for _, fd := range taken {
		_ = unix.Close(fd)
	}
	restore()
	s.fine(t)
	s.backTo(t, before)
}

// hog takes every descriptor that is left.
func hog() (taken []int) {
	for {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return taken
		}
		taken = append(taken, fd)
	}
}

// openFolder is a temporary folder that the snippets' user can reach.
func openFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// smallDisk mounts a file system of a few blocks as the folder of work folders.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	dir := openFolder(t)
	if err := unix.Mount("small", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a small disk needs the right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestDiskFull(t *testing.T) {
	dir := smallDisk(t, "size=1m")
	s, before := fresh(t, Config{WorkBase: dir, Log: quiet.Log})
	r := s.run(t, job("f = open('big', 'wb', buffering=0)\nwhile True:\n    f.write(b'x' * 65536)"))
	if r.Reason != snippet.DiskLimit || r.Outcome != snippet.Error || len(r.Files) != 1 {
		t.Errorf("got %s %s with %d files", r.Outcome, r.Reason, len(r.Files))
	}
	s.settled(t, fixtureWorkers)
	large := job("print(1)")
	large.Request.Files = []snippet.File{{Path: "a/large.bin", Content: make([]byte, 2<<20)}}
	s.unavailable(t, large)
	s.fine(t)
	s.backTo(t, before)
}

func TestNoInodesLeft(t *testing.T) {
	dir := smallDisk(t, "size=1m,nr_inodes=64")
	s, before := fresh(t, Config{WorkBase: dir, Log: quiet.Log})
	for n := range 64 {
		if os.WriteFile(filepath.Join(dir, "filler"+strings.Repeat("x", n)), nil, 0o600) != nil {
			break
		}
	}
	for range fixtureWorkers + 1 {
		_, _ = s.Run(context.Background(), job("print(1)")) // those that wait already may still serve
	}
	fillers, _ := filepath.Glob(dir + "/filler*")
	for _, f := range fillers {
		_ = os.Remove(f)
	}
	s.fine(t)
	s.backTo(t, before)
}

func TestWorkBaseGone(t *testing.T) {
	s, before := fresh(t, Config{WorkBase: openFolder(t), Log: quiet.Log})
	if err := os.RemoveAll(s.base); err != nil {
		t.Skipf("this user cannot remove it at once: %v", err)
	}
	if r := s.run(t, job("open('f', 'w')")); r.Outcome == snippet.Blocked {
		t.Errorf("the run that met it was told %s", r.Reason) // not that it did something forbidden
	}
	deadline := time.Now().Add(20 * time.Second)
	for r := s.run(t, job("open('f', 'w').write('x')")); r.Outcome != snippet.OK; r = s.run(t, job("open('f', 'w').write('x')")) {
		if time.Now().After(deadline) {
			t.Fatalf("runs stay broken: %+v", r)
		}
	}
	s.fine(t)
	s.backTo(t, before)
}

// TestDeepFolders goes where no path leads. The run ends at its limit, and the
// clean-up gets to the bottom with few descriptors.
func TestDeepFolders(t *testing.T) {
	s, before := fresh(t, Config{weaken: weaken{guard: true}})
	j := job("import os\nfor i in range(20000):\n    os.mkdir('d')\n    os.chdir('d')\nprint('deep')\nimport time\ntime.sleep(3)")
	j.Limits.FolderEntries = 100_000
	if r := s.run(t, j); r.Reason != snippet.DiskLimit {
		t.Errorf("got %+v", r)
	}
	s.fine(t)
	s.backTo(t, before)
}

func TestRemoveTree(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20_000 {
		if err := unix.Mkdirat(fd, "d", 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(fd, "d", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n%100 == 0 {
			_ = unix.Fchmod(fd, 0) // a folder that even its owner may not enter
		}
		_ = unix.Close(fd)
		fd = next
	}
	_ = unix.Close(fd)
	restore := lower(t, unix.RLIMIT_NOFILE, 64)
	_, err = removeTrees([]string{root})
	restore()
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(root)); len(left) != 0 {
		t.Errorf("%d entries are left", len(left))
	}
}

// TestStaleBases: what a killed server left is removed by the next one, what a
// living one uses is not.
func TestStaleBases(t *testing.T) {
	parent := t.TempDir()
	stale, lock, err := openBase(parent)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(stale, "run-left"), 0o700); err != nil {
		t.Fatal(err)
	}
	removeStaleBases(parent, 0)
	if _, err := os.Lstat(stale); err != nil {
		t.Errorf("a base in use was removed: %v", err)
	}
	_ = lock.Close()
	removeStaleBases(parent, time.Hour)
	if _, err := os.Lstat(stale); err != nil {
		t.Errorf("a base too young to have its lock was removed: %v", err)
	}
	removeStaleBases(parent, 0)
	if _, err := os.Lstat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a stale base is still there: %v", err)
	}
}

// TestMappedNamelessFiles: one page keeps all of a file that nothing names.
func TestMappedNamelessFiles(t *testing.T) {
	s := unguarded.get(t)
	const code = `import ctypes, os, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for i in range(40):
    fd = os.open("f", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.write(fd, b"x" * (2 << 20))
    libc.mmap(None, 4096, 1, 1, fd, 0)
    os.unlink("f")
    os.close(fd)
time.sleep(3)
`
	if r := s.run(t, job(code)); r.Reason != snippet.DiskLimit {
		t.Errorf("got %s (%s)", r.Outcome, r.Reason)
	}
}

// TestFirstThreadLeaves: what the others hold is seen all the same.
func TestFirstThreadLeaves(t *testing.T) {
	s := unguarded.get(t)
	const code = `import ctypes, os, threading, time
def fill():
    kept = []
    for i in range(40):
        kept.append(os.open("f", os.O_RDWR | os.O_CREAT | os.O_TRUNC))
        os.unlink("f")
        for _ in range(8):
            os.write(kept[-1], b"x" * (1 << 20))
    time.sleep(5)
threading.Thread(target=fill).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
`
	if r := s.run(t, job(code)); r.Reason != snippet.DiskLimit || r.PeakMemoryBytes == 0 {
		t.Errorf("got %s (%s), peak %d", r.Outcome, r.Reason, r.PeakMemoryBytes)
	}
}

// TestClosedFolderCounts: a folder that even its owner may not list can be
// written to all the same. Its content counts, and comes back.
func TestClosedFolderCounts(t *testing.T) {
	s := shared.withFiles(t)
	const code = "import pathlib\npathlib.Path('d').mkdir(mode=0o300)\nfor i in range(%s):\n    with open(f'd/{i}', 'wb') as f:\n        for _ in range(%s):\n            f.write(b'x' * 1000000)\n"
	if r := s.run(t, job(fmt.Sprintf(code, "100", "20"))); r.Reason != snippet.DiskLimit {
		t.Errorf("got %s (%s)", r.Outcome, r.Reason)
	}
	if r := s.run(t, job(fmt.Sprintf(code, "2", "1"))); r.Outcome != snippet.OK || len(r.Files) != 2 || r.Files[1].SHA256 == nil {
		t.Errorf("got %s (%s), files %+v", r.Outcome, r.Reason, r.Files)
	}
}
