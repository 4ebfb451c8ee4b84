package sandbox

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fixtureWorkers is how many children wait in a fixture.
const fixtureWorkers = 4

// fixture is a sandbox that many tests use, started by the first of them: a
// start costs more than most runs.
type fixture struct {
	weaken weaken

	once sync.Once
	box  *Sandbox
	err  error
}

var (
	shared    fixture
	unguarded = fixture{weaken: weaken{guard: true}} // what the kernel holds alone
)

func (f *fixture) get(t testing.TB) *Sandbox {
	t.Helper()
	f.once.Do(func() {
		log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
		f.box, f.err = New(Config{Workers: fixtureWorkers, Log: log, weaken: f.weaken})
	})
	if f.err != nil {
		t.Fatal(f.err)
	}
	return f.box
}

// withFiles skips a test about files where nothing can wall them off.
func (f *fixture) withFiles(t testing.TB) *Sandbox {
	t.Helper()
	s := f.get(t)
	if s.layers.wall == wallNoFiles {
		t.Skip("this machine has no file wall, so runs have no files")
	}
	return s
}

func closeFixtures() error {
	var faults []error
	for _, f := range []*fixture{&shared, &unguarded} {
		if f.box != nil {
			faults = append(faults, f.box.Close())
		}
	}
	return errors.Join(faults...)
}

// census counts what a sandbox holds of the machine.
type census struct {
	children int // of the template, dead ones that it has not reaped included
	zombies  int // those, and dead children of this process
	folders  int // of runs, in the work base
	fds      int // of this process
}

// settled waits until exactly the waiting children are there, as before and
// after any number of runs, and returns what there is then.
func (s *Sandbox) settled(t testing.TB, workers int) census {
	t.Helper()
	return s.await(t, func(c census) bool { return c.children == workers && c.folders == workers })
}

// backTo waits until nothing is there that was not there before.
func (s *Sandbox) backTo(t testing.TB, before census) {
	t.Helper()
	s.await(t, func(c census) bool {
		return c.children == before.children && c.folders == before.folders && c.zombies <= before.zombies && c.fds <= before.fds
	})
}

func (s *Sandbox) await(t testing.TB, rest func(census) bool) (c census) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c = s.count(t); rest(c) {
			return c
		}
	}
	t.Fatalf("the sandbox did not come to rest: %+v", c)
	return c
}

func (s *Sandbox) count(t testing.TB) census {
	t.Helper()
	var c census
	parent := 0
	if template := s.living(); template != nil {
		parent = template.cmd.Process.Pid
	}
	for _, p := range everyProc() {
		if p.parent == parent {
			c.children++
		}
		if p.state == "Z" && (p.parent == parent || p.parent == os.Getpid()) {
			c.zombies++
		}
	}
	c.folders = len(s.runFolders(t))
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	c.fds = len(fds)
	return c
}

// runFolders lists the folders of the runs, which the sandbox itself may not.
func (s *Sandbox) runFolders(t testing.TB) []string {
	t.Helper()
	if err := os.Chmod(s.base, 0o700|baseMode); err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(s.base + "/run-*")
	if err := errors.Join(err, os.Chmod(s.base, baseMode)); err != nil {
		t.Fatal(err)
	}
	return folders
}

// living returns the template that forks now, nil while there is none.
func (s *Sandbox) living() *template {
	select {
	case t := <-s.current:
		return t
	case <-time.After(time.Second):
		return nil
	}
}

// procStat is a line of /proc/PID/stat (proc_pid_stat(5)).
type procStat struct {
	pid, parent int
	state       string
}

func everyProc() []procStat {
	entries, _ := filepath.Glob("/proc/[0-9]*/stat")
	var out []procStat
	for _, path := range entries {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it is gone
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[1])
		out = append(out, procStat{pid, parent, fields[0]})
	}
	return out
}
