package sandbox

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
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
	children int // of the template, living or not yet reaped
	zombies  int // among all descendants of this process
	folders  int // in the work base
	fds      int // of this process
}

// settled waits until exactly the waiting children are there, as before and
// after any number of runs, and returns what there is then.
func (s *Sandbox) settled(t testing.TB, workers int) census {
	t.Helper()
	var c census
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c = s.count(t); c.children == workers && c.folders == workers && c.zombies == 0 {
			return c
		}
	}
	t.Fatalf("the sandbox did not come to rest with %d waiting children: %+v", workers, c)
	return c
}

func (s *Sandbox) count(t testing.TB) census {
	t.Helper()
	var c census
	if template := s.living(); template != nil {
		c.children = len(childrenOf(template.cmd.Process.Pid))
	}
	for _, p := range descendants(os.Getpid()) {
		if p.state == "Z" {
			c.zombies++
		}
	}
	folders, err := os.ReadDir(s.base)
	if err != nil {
		t.Fatal(err)
	}
	c.folders = len(folders) - 1 // the lock
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	c.fds = len(fds)
	return c
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

func childrenOf(pid int) []procStat {
	return slices.DeleteFunc(everyProc(), func(p procStat) bool { return p.parent != pid })
}

func descendants(pid int) []procStat {
	all := everyProc()
	var out []procStat
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		for _, p := range all {
			if p.parent == todo[0] {
				out, todo = append(out, p), append(todo, p.pid)
			}
		}
	}
	return out
}

// sizeOf adds up the regular files below a folder.
func sizeOf(t testing.TB, folder string) (total int64) {
	t.Helper()
	err := filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // removed meanwhile, or no file
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}
