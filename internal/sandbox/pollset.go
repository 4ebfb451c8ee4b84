package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pollSet waits for several descriptors as Go waits for a connection: no thread
// is blocked. A blocked one counts as work for Go's monitor, which then wakes up
// ten thousand times a second (sysmon, runtime/proc.go) and takes that time from
// the run which is waited for. One goroutine may use it at a time.
type pollSet struct {
	file   *os.File // an epoll(7) instance, itself watched by Go's poller
	conn   syscall.RawConn
	events [4]unix.EpollEvent
}

func newPollSet() (*pollSet, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // else it is no file that Go's poller takes
		closeFDs(fd)
		return nil, err
	}
	p := &pollSet{file: os.NewFile(uintptr(fd), "epoll")}
	if p.conn, err = p.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, p.file.Close())
	}
	return p, nil
}

// add makes the set wait for bytes from fd, or its end; none if it is negative.
func (p *pollSet) add(fd int) error { return p.control(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN) }

// addOnce is add for a descriptor that is told about once, then left alone until
// again.
func (p *pollSet) addOnce(fd int) error {
	return p.control(unix.EPOLL_CTL_ADD, fd, unix.EPOLLONESHOT)
}

// again makes the set wait for a descriptor of addOnce.
func (p *pollSet) again(fd int) error {
	return p.control(unix.EPOLL_CTL_MOD, fd, unix.EPOLLIN|unix.EPOLLONESHOT)
}

// remove makes the set forget fd.
func (p *pollSet) remove(fd int) error { return p.control(unix.EPOLL_CTL_DEL, fd, 0) }

func (p *pollSet) control(operation, fd int, events uint32) error {
	if fd < 0 {
		return nil
	}
	var err error
	refused := p.conn.Control(func(set uintptr) {
		err = unix.EpollCtl(int(set), operation, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
	})
	return errors.Join(err, refused)
}

// roughly is how late Go's poller may be, which counts in milliseconds.
const roughly = time.Millisecond

// wait returns the descriptors that have bytes or are at their end; none when
// there are none within d, roughly.
func (p *pollSet) wait(d time.Duration) ([]unix.EpollEvent, error) {
	if err := p.file.SetReadDeadline(time.Now().Add(d)); err != nil {
		return nil, err
	}
	return p.await()
}

// waitExactly is wait for a short time, and holds a thread: it is not late.
func (p *pollSet) waitExactly(d time.Duration) ([]unix.EpollEvent, error) {
	var n int
	var err error
	refused := p.conn.Control(func(set uintptr) {
		if n, err = pollFor([]unix.PollFd{{Fd: int32(set), Events: unix.POLLIN}}, d); n > 0 {
			n, err = unix.EpollWait(int(set), p.events[:], 0)
		}
	})
	return p.events[:max(n, 0)], errors.Join(err, refused)
}

// await waits until one of the descriptors has bytes or is at its end, or until
// the set is closed.
func (p *pollSet) await() ([]unix.EpollEvent, error) {
	var n int
	var err error
	refused := p.conn.Read(func(set uintptr) bool {
		n, err = unix.EpollWait(int(set), p.events[:], 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
	if err = errors.Join(err, refused); errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, nil
	}
	return p.events[:max(n, 0)], err
}

func (p *pollSet) close() {
	if p != nil {
		_ = p.file.Close()
	}
}
