package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// channel is a connected pair of SOCK_SEQPACKET sockets: packets keep their
// bounds, and the death of either end is seen by the other.
func channel() (ours, theirs int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil { // then pair is two times 0, which is somebody's
		return -1, -1, err
	}
	return pair[0], pair[1], nil
}

// pipe returns a pipe whose reading end never blocks.
func pipe() (r, w int, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, err
	}
	return ends[0], ends[1], unix.SetNonblock(ends[0], true)
}

// closeFDs closes what is open; a negative number stands for none.
func closeFDs(fds ...int) {
	for _, fd := range fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// pollFor waits for events, at most for d. Go's own signals interrupt it. It
// blocks a thread, for which Go wakes another every few dozen microseconds, so it
// is for short waits.
func pollFor(fds []unix.PollFd, d time.Duration) (int, error) {
	deadline := time.Now().Add(d)
	for {
		wait := unix.NsecToTimespec(max(time.Until(deadline), 0).Nanoseconds())
		n, err := unix.Ppoll(fds, &wait, nil)
		if err != unix.EINTR {
			return n, err
		}
	}
}
