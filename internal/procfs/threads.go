//go:build linux

package procfs

import (
	"golang.org/x/sys/unix"

	"cloche/internal/sys"
)

// Stopped reports whether no thread of the process runs, or will until it is told
// to go on.
func (p *Process) Stopped() (bool, error) {
	stopped := true
	err := p.threads(func(task string) (bool, error) {
		state, err := p.state(task)
		switch {
		case err == ErrGone:
			return true, nil
		case err != nil:
			return false, err
		}
		stopped = state == 'T' || state == 't' || state == 'Z' || state == 'X'
		return stopped, nil
	})
	return stopped, err
}

// living is the folder of a thread that still has what the process has: its
// first thread may have left alone.
func (p *Process) living() (task string, err error) {
	err = p.threads(func(name string) (bool, error) {
		state, err := p.state(name)
		switch {
		case err == ErrGone || state == 'Z' || state == 'X':
			return true, nil
		case err != nil:
			return false, err
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

// state is a thread's, such as 'R' or 'T' (proc_pid_stat(5)).
func (p *Process) state(task string) (byte, error) {
	fd, err := sys.Openat(p.folder, task+"/stat", unix.O_RDONLY)
	if err != nil {
		return 0, named("open stat", err)
	}
	defer sys.Close(fd)
	var buf [512]byte
	n, err := sys.Read(fd, buf[:])
	if err != nil {
		return 0, named("read stat", err)
	}
	fields := statFields(buf[:n])
	if len(fields) == 0 {
		return 0, ErrGone
	}
	return fields[0][0], nil
}
