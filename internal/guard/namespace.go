package guard

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Why a user namespace cannot bound a run's threads.
var (
	errRootUncounted = errors.New("the kernel does not count the tasks of user 0")
	errCountedWhole  = errors.New("the kernel counts a user's tasks over all namespaces")
)

// probeUserNamespace reports whether a user namespace of its own gives a process
// a task limit of its own: RLIMIT_NPROC counts in each namespace alone from Linux
// 5.14 on (kernel/ucount.c), and never binds root (copy_process in kernel/fork.c).
func probeUserNamespace() error {
	if unix.Getuid() == 0 {
		return errRootUncounted
	}
	pid, errno := cloneCounter()
	if errno != 0 {
		return errno
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, 0, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait for the process in a user namespace: %w", err)
		}
		break
	}
	if !status.Exited() || status.ExitStatus() != 0 {
		return errCountedWhole
	}
	return nil
}

// cloneCounter starts a process in a user namespace of its own that may have one
// task more. It exits with 0 if just that one could be made: this process has
// several, so a count over all namespaces would leave no room for it.
//
// The new process has one thread and a copy of a runtime that had more, so it
// makes nothing but system calls on memory that is there already.
//
//go:norace
//go:noinline
func cloneCounter() (pid int, errno syscall.Errno) {
	two := unix.Rlimit{Cur: 2, Max: 2}
	n, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || n != 0 {
		return int(n), errno
	}
	status := uintptr(1)
	_, _, errno = syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NPROC, uintptr(unsafe.Pointer(&two)), 0, 0, 0)
	if errno == 0 {
		first, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno == 0 && first == 0 {
			for { // counted until its parent has seen what it wants to see
				syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
			}
		}
		if errno == 0 {
			second, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			if errno == 0 && second == 0 {
				syscall.RawSyscall(unix.SYS_EXIT_GROUP, 1, 0, 0)
			}
			if errno == syscall.EAGAIN {
				status = 0
			}
			syscall.RawSyscall(unix.SYS_KILL, first, uintptr(unix.SIGKILL), 0)
		}
	}
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, status, 0, 0)
	}
}
