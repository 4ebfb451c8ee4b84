//go:build linux

package procfs

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/sys"
)

func self(t *testing.T) *Process {
	t.Helper()
	p, err := Open(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestGone(t *testing.T) {
	child, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(child.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	_, threads := p.Threads()
	_, tables := p.PageTables()
	_, written := p.Written()
	for what, err := range map[string]error{"threads": threads, "tables": tables, "written": written} {
		if !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := Open(child.Pid); !errors.Is(err, ErrGone) {
		t.Errorf("open: %v", err)
	}
}

func TestNumbers(t *testing.T) {
	p := self(t)
	if n, err := p.Threads(); n < 1 || err != nil {
		t.Errorf("threads %d, %v", n, err)
	}
	if n, err := p.PageTables(); n < 4096 || err != nil {
		t.Errorf("page tables %d, %v", n, err)
	}
}

// TestWritten: whichever way a file grows, it shows.
func TestWritten(t *testing.T) {
	const size = 4 << 20
	for name, grow := range map[string]func(*os.File) error{
		"write": func(f *os.File) error { _, err := f.Write(make([]byte, size)); return err },
		"a byte a page": func(f *os.File) error {
			for at := int64(0); at < size; at += 4096 {
				if _, err := f.WriteAt([]byte{1}, at); err != nil {
					return err
				}
			}
			return nil
		},
		"map": func(f *os.File) error {
			if err := f.Truncate(size); err != nil {
				return err
			}
			m, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			if err != nil {
				return err
			}
			for at := 0; at < size; at += 4096 {
				m[at] = 1
			}
			return unix.Munmap(m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := self(t)
			f, err := os.Create(filepath.Join(t.TempDir(), "file"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			before, err := p.Written()
			if err != nil {
				t.Fatal(err)
			}
			if err := grow(f); err != nil {
				t.Fatal(err)
			}
			if after, err := p.Written(); err != nil || after-before < size {
				t.Errorf("%d bytes more, %v", after-before, err)
			}
		})
	}
}

// nameless makes a file that has size bytes and no name, below a path of some length.
func nameless(t *testing.T, depth, size int) *os.File {
	t.Helper()
	base, err := unix.Open(t.TempDir(), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("x", 255)
	folders := []int{base}
	for range depth {
		last := folders[len(folders)-1]
		if err := unix.Mkdirat(last, name, 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(last, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		folders = append(folders, next)
	}
	last := folders[len(folders)-1]
	fd, err := unix.Openat(last, "f", unix.O_CREAT|unix.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "f")
	if _, err := f.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Unlinkat(last, "f", 0); err != nil {
		t.Fatal(err)
	}
	for n := len(folders) - 1; n > 0; n-- {
		_ = unix.Close(folders[n])
		if err := unix.Unlinkat(folders[n-1], name, unix.AT_REMOVEDIR); err != nil {
			t.Fatal(err)
		}
	}
	_ = unix.Close(base)
	return f
}

// TestNameless finds files that are open or mapped, also where the path of one is
// longer than any buffer.
func TestNameless(t *testing.T) {
	const size = 1 << 20
	open := nameless(t, 0, size)
	defer open.Close()
	want := map[uint64]string{inode(t, open): "open"}
	var device uint64
	for _, depth := range []int{1, 130, 270} {
		f := nameless(t, depth, size)
		want[inode(t, f)] = fmt.Sprint("mapped, depth ", depth)
		device = deviceOf(t, f)
		m, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Munmap(m) }()
		_ = f.Close()
	}
	err := self(t).Nameless(device, func() bool { return false }, func(inode uint64, got int64) {
		if want[inode] != "" && got != Unknown && got < size {
			t.Errorf("%s: %d bytes", want[inode], got)
		}
		delete(want, inode)
	})
	if err != nil || len(want) != 0 {
		t.Errorf("not found: %v, %v", want, err)
	}
}

func inode(t *testing.T, f *os.File) uint64 { return stat(t, f).Ino }

func deviceOf(t *testing.T, f *os.File) uint64 { return stat(t, f).Dev }

func stat(t *testing.T, f *os.File) (st unix.Stat_t) {
	t.Helper()
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	return st
}

func TestStopped(t *testing.T) {
	child, err := os.StartProcess("/bin/sleep", []string{"sleep", "60"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Kill(); _, _ = child.Wait() }()
	p, err := Open(child.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if stopped, err := p.Stopped(); stopped || err != nil {
		t.Errorf("running: %t, %v", stopped, err)
	}
	becomes := func(signal unix.Signal, what string, holds func() (bool, error)) {
		t.Helper()
		if err := child.Signal(signal); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			if so, err := holds(); so && err == nil {
				return
			} else if err != nil || time.Now().After(end) {
				t.Fatalf("%s: %t, %v", what, so, err)
			}
		}
	}
	becomes(unix.SIGSTOP, "stopped", p.Stopped)
	if exiting, err := p.Exiting(); exiting || err != nil {
		t.Errorf("exiting while it is stopped: %t, %v", exiting, err)
	}
	becomes(unix.SIGKILL, "exiting", p.Exiting)
}

// TestFaults: what could not be read is an error, whichever call of it failed.
func TestFaults(t *testing.T) {
	f := nameless(t, 0, 1)
	defer f.Close()
	for name, read := range map[string]func(*Process) error{
		"threads":     func(p *Process) error { _, err := p.Threads(); return err },
		"page tables": func(p *Process) error { _, err := p.PageTables(); return err },
		"written":     func(p *Process) error { _, err := p.Written(); return err },
		"stopped":     func(p *Process) error { _, err := p.Stopped(); return err },
		"nameless": func(p *Process) error {
			return p.Nameless(deviceOf(t, f), func() bool { return false }, func(uint64, int64) {})
		},
	} {
		for _, call := range []string{"openat", "pread", "read", "getdents"} {
			for _, fault := range []unix.Errno{unix.EMFILE, unix.ENFILE, unix.EACCES, unix.ENOMEM, unix.EIO} {
				p := self(t)
				fired := false
				restore := sys.Inject(func(name string) error {
					if name == call {
						fired = true
						return fault
					}
					return nil
				})
				err := read(p)
				restore()
				if fired && !errors.Is(err, fault) {
					t.Errorf("%s while %s fails with %v: %v", name, call, fault, err)
				}
			}
		}
	}
}

func TestLongLines(t *testing.T) {
	for _, length := range []int{10, 127, 128, 200, 1000, 100_000} {
		text := "1000-2000 r--s 00000000 fe:00 77 /" + strings.Repeat("y", length) + " (deleted)\n"
		head, tail, err := line(bufio.NewReaderSize(strings.NewReader(text+"next\n"), 256))
		if err != nil || !strings.HasPrefix(string(head), "1000-2000 r--s 00000000 fe:00 77 /") || !strings.HasSuffix(string(tail), " (deleted)\n") {
			t.Errorf("%d: %q … %q, %v", length, head, tail, err)
		}
	}
}
