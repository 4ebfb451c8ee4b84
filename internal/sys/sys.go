//go:build linux

// Package sys makes the system calls that looking at a run is made of, each
// begun again when a signal interrupts it. Tests make any of them fail: a look
// that fails must never pass for one that found nothing.
package sys

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// fault is asked before each call, where a test has set one.
var fault atomic.Pointer[func(call string) error]

// Inject has f decide before each call, by its name, whether the call fails and
// how; nil lets it happen. It is for tests. The returned function ends it.
func Inject(f func(call string) error) (restore func()) {
	fault.Store(&f)
	return func() { fault.Store(nil) }
}

// call is one try after the other until no signal interrupts.
func call[T any](name string, try func() (T, error)) (result T, err error) {
	if f := fault.Load(); f != nil {
		if err := (*f)(name); err != nil {
			return result, err
		}
	}
	for {
		if result, err = try(); err != unix.EINTR {
			return result, err
		}
	}
}

// Openat is openat(2), close-on-exec. The result is -1 with an error.
func Openat(dir int, path string, flags int) (int, error) {
	fd, err := call("openat", func() (int, error) { return unix.Openat(dir, path, flags|unix.O_CLOEXEC, 0) })
	if err != nil {
		return -1, err
	}
	return fd, nil
}

// Close is close(2); what it says cannot be acted on. A negative number is none.
func Close(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}

// Getdents is getdents64(2): entries of a folder as the kernel writes them, 0 at
// the end.
func Getdents(fd int, buf []byte) (int, error) {
	return call("getdents", func() (int, error) { return unix.Getdents(fd, buf) })
}

// Fstatat is fstatat(2).
func Fstatat(dir int, path string, flags int) (unix.Stat_t, error) {
	return call("fstatat", func() (st unix.Stat_t, err error) { return st, unix.Fstatat(dir, path, &st, flags) })
}

// Read is read(2).
func Read(fd int, buf []byte) (int, error) {
	return call("read", func() (int, error) { return unix.Read(fd, buf) })
}

// Pread is pread(2).
func Pread(fd int, buf []byte, at int64) (int, error) {
	return call("pread", func() (int, error) { return unix.Pread(fd, buf, at) })
}

// Chmod is chmod(2).
func Chmod(path string, mode uint32) error {
	_, err := call("chmod", func() (struct{}, error) { return struct{}{}, unix.Chmod(path, mode) })
	return err
}
