//go:build linux

// Package procfs reads what Linux tells of a process (proc(5)). An error means
// that it could not be read; ErrGone, that there is no process any more.
package procfs

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"cloche/internal/sys"
)

// ErrGone means that the process, or the thread, is no more.
var ErrGone = errors.New("the process is gone")

var errNoField = errors.New("there is no field")

// Process is a process whose files in /proc are open: they stay its own,
// whatever becomes of its number. One goroutine may use it at a time.
type Process struct {
	folder, status, stat, io int
}

// Open opens the files of a process. Written and Nameless need the right to look
// into it (ptrace(2), PTRACE_MODE_READ_FSCREDS), at each call.
func Open(pid int) (*Process, error) {
	p := &Process{-1, -1, -1, -1}
	var err error
	if p.folder, err = sys.Openat(unix.AT_FDCWD, "/proc/"+strconv.Itoa(pid), unix.O_PATH|unix.O_DIRECTORY); err != nil {
		return nil, named("open", err)
	}
	for name, fd := range map[string]*int{"status": &p.status, "stat": &p.stat} {
		if *fd, err = sys.Openat(p.folder, name, unix.O_RDONLY); err != nil {
			p.Close()
			return nil, named("open "+name, err)
		}
	}
	return p, nil
}

// Close gives the files back; of nil it does nothing.
func (p *Process) Close() {
	if p == nil {
		return
	}
	for _, fd := range []int{p.folder, p.status, p.stat, p.io} {
		sys.Close(fd)
	}
}

// named says what could not be read, and tells the end of a process apart.
func named(what string, err error) error {
	if err == unix.ESRCH || err == unix.ENOENT {
		return ErrGone
	}
	return fmt.Errorf("%s of a process: %w", what, err)
}

// Threads is how many threads the process has.
func (p *Process) Threads() (int, error) {
	n, err := p.number(p.status, "Threads")
	return int(n), err
}

// PageTables is how many bytes of the kernel's memory describe the process's own.
func (p *Process) PageTables() (int64, error) {
	kilobytes, err := p.number(p.status, "VmPTE")
	if errors.Is(err, errNoField) { // its first thread has left alone: ask another
		kilobytes, err = p.threadNumber("VmPTE")
	}
	return kilobytes << 10, err
}

// threadNumber reads a field of a thread that still has what the process has.
func (p *Process) threadNumber(field string) (int64, error) {
	task, err := p.living()
	if err != nil {
		return 0, err
	}
	fd, err := sys.Openat(p.folder, task+"/status", unix.O_RDONLY)
	if err != nil {
		return 0, named("open status", err)
	}
	defer sys.Close(fd)
	value, err := p.number(fd, field)
	if errors.Is(err, errNoField) { // it ended just now
		err = ErrGone
	}
	return value, err
}

// Written is how many bytes of files the process can have made or changed since
// its beginning: all that it handed to write(2), whatever that was about, and two
// pages for each such call, since a byte can take a page; all that it made the kernel
// write later; and a page for each page fault, which is what storing into a mapped
// file takes. It is far too much for most programs, and too little for none.
func (p *Process) Written() (written int64, err error) {
	if p.io < 0 {
		if p.io, err = sys.Openat(p.folder, "io", unix.O_RDONLY); err != nil {
			return 0, named("open io", err)
		}
	}
	var sum [3]int64
	for n, field := range []string{"wchar", "syscw", "write_bytes"} {
		if sum[n], err = p.number(p.io, field); err != nil {
			return 0, err
		}
	}
	faults, err := p.faults()
	return sum[0] + sum[2] + (2*sum[1]+faults)*int64(unix.Getpagesize()), err
}

// number reads a field of a file that has one field a line.
func (p *Process) number(fd int, field string) (int64, error) {
	var buf [4096]byte
	n, err := sys.Pread(fd, buf[:], 0)
	if err != nil {
		return 0, named("read", err)
	}
	value, found := Field(buf[:n], field)
	if !found {
		return 0, fmt.Errorf("read of a process: %w %s", errNoField, field)
	}
	return value, nil
}

// Field finds the number of a field in text that has one field a line.
func Field(text []byte, field string) (value int64, found bool) {
	rest, found := bytes.CutPrefix(text, []byte(field+":"))
	if !found {
		if _, rest, found = bytes.Cut(text, []byte("\n"+field+":")); !found {
			return 0, false
		}
	}
	rest = bytes.TrimLeft(rest, " \t")
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	value, err := strconv.ParseInt(string(rest[:end]), 10, 64)
	return value, err == nil
}

// faults is the number of page faults, minor and major.
func (p *Process) faults() (int64, error) {
	var buf [1024]byte
	n, err := sys.Pread(p.stat, buf[:], 0)
	if err != nil {
		return 0, named("read stat", err)
	}
	const minor, major = 7, 9 // counted from the state (proc_pid_stat(5))
	fields := statFields(buf[:n])
	if len(fields) <= major {
		return 0, errors.New("read stat of a process: too short")
	}
	few, err1 := strconv.ParseInt(string(fields[minor]), 10, 64)
	more, err2 := strconv.ParseInt(string(fields[major]), 10, 64)
	return few + more, errors.Join(err1, err2)
}

// statFields are the fields from the state on: the name before them is in
// parentheses, and may hold anything, parentheses too.
func statFields(text []byte) [][]byte {
	return bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
}
