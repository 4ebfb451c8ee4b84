//go:build linux

package procfs

import (
	"strconv"

	"golang.org/x/sys/unix"

	"cloche/internal/sys"
)

// Stopped reports whether no thread of the process runs, or will until it is told
// to go on.
func (p *Process) Stopped() (bool, error) {
	return p.all(func(t thread) bool { return t.ended() || t.state == 'T' || t.state == 't' })
}

// Exiting reports whether every thread of a process that was killed is on its way
// out: none of them makes another system call, however long the kernel takes to
// give the memory back.
func (p *Process) Exiting() (bool, error) {
	const exiting = 0x4 // PF_EXITING, linux/sched.h
	return p.all(func(t thread) bool { return t.ended() || t.flags&exiting != 0 })
}

// all reports whether is holds for every thread there is.
func (p *Process) all(is func(thread) bool) (bool, error) {
	each := true
	err := p.threads(func(task string) (bool, error) {
		t, err := p.thread(task)
		switch {
		case err == ErrGone:
			return true, nil
		case err != nil:
			return false, err
		}
		each = is(t)
		return each, nil
	})
	return each, err
}

// living is the folder of a thread that still has what the process has: its
// first thread may have left alone.
func (p *Process) living() (task string, err error) {
	err = p.threads(func(name string) (bool, error) {
		t, err := p.thread(name)
		switch {
		case err == ErrGone:
			return true, nil
		case err != nil:
			return false, err
		case t.ended():
			return true, nil
		}
		task = name
		return false, nil
	})
	if err == nil && task == "" {
		err = ErrGone
	}
	return task, err
}

// threads calls visit with the folder of each thread, until it is false.
func (p *Process) threads(visit func(task string) (more bool, err error)) error {
	return p.list("task", func(fd int, entry sys.Entry) (bool, error) { return visit("task/" + entry.Name) })
}

// list calls visit with each entry of a folder, until it is false.
func (p *Process) list(folder string, visit func(fd int, entry sys.Entry) (more bool, err error)) error {
	fd, err := sys.Openat(p.folder, folder, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return named("open "+folder, err)
	}
	defer sys.Close(fd)
	buf := make([]byte, 4096)
	for {
		n, err := sys.Getdents(fd, buf)
		if err != nil {
			return named("list "+folder, err)
		}
		if n == 0 {
			return nil
		}
		for entry := range sys.Entries(buf[:n]) {
			if more, err := visit(fd, entry); !more || err != nil {
				return err
			}
		}
	}
}

// thread is what proc_pid_stat(5) tells of one.
type thread struct {
	state byte   // such as 'R' or 'T'
	flags uint64 // of the kernel's own
}

// ended reports that it is only remembered.
func (t thread) ended() bool { return t.state == 'Z' || t.state == 'X' }

func (p *Process) thread(task string) (thread, error) {
	fd, err := sys.Openat(p.folder, task+"/stat", unix.O_RDONLY)
	if err != nil {
		return thread{}, named("open stat", err)
	}
	defer sys.Close(fd)
	var buf [512]byte
	n, err := sys.Read(fd, buf[:])
	if err != nil {
		return thread{}, named("read stat", err)
	}
	const flags = 6 // counted from the state
	fields := statFields(buf[:n])
	if len(fields) <= flags {
		return thread{}, ErrGone
	}
	bits, err := strconv.ParseUint(string(fields[flags]), 10, 64)
	return thread{fields[0][0], bits}, err
}
