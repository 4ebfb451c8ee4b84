package sandbox

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// stdin is a child's standard input: our end, to fill it, and the child's. They
// are the same descriptor for a memory file.
type stdin struct{ ours, theirs int }

// newStdin is an anonymous file: one in memory or, where the kernel has none, an
// unlinked one in dir.
func newStdin(memfd bool, dir string) (stdin, error) {
	if memfd {
		fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err != nil {
			return stdin{-1, -1}, err
		}
		return stdin{fd, fd}, nil
	}
	path := filepath.Join(dir, "stdin")
	ours, err := unix.Open(path, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return stdin{-1, -1}, err
	}
	theirs, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		closeFDs(ours)
		return stdin{-1, -1}, err
	}
	return stdin{ours, theirs}, os.Remove(path)
}

// fill puts text into the file. A memory file is sealed: the child can read it
// from its beginning to an end of file, and can change nothing.
func (s stdin) fill(text string) error {
	for at := 0; at < len(text); {
		n, err := unix.Pwrite(s.ours, []byte(text[at:]), int64(at)) // leaves a shared offset at 0
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("fill stdin: %w", err)
		}
		at += max(n, 0)
	}
	if s.ours != s.theirs {
		return nil // the child's descriptor cannot write
	}
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(s.ours), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("seal stdin: %w", err)
	}
	return nil
}

func (s stdin) close() {
	closeFDs(s.ours)
	if s.theirs != s.ours {
		closeFDs(s.theirs)
	}
}
