package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// newStdin is an anonymous file that the child has as its standard input.
func newStdin() (int, error) {
	return unix.MemfdCreate("stdin", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
}

// fillStdin puts text into the file and seals it: the child can read it from
// its beginning to an end of file, and can change nothing.
func fillStdin(fd int, text string) error {
	for at := 0; at < len(text); {
		n, err := unix.Pwrite(fd, []byte(text[at:]), int64(at)) // leaves the shared offset at 0
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("fill stdin: %w", err)
		}
		at += max(n, 0)
	}
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("seal stdin: %w", err)
	}
	return nil
}
