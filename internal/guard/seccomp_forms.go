//go:build linux

package guard

import (
	"golang.org/x/sys/unix"
)

// Commands of fcntl and ioctl that package unix has no name for.
const (
	openFileGetLock  = 36         // F_OFD_GETLK, asm-generic/fcntl.h
	openFileSetLock  = 37         // F_OFD_SETLK
	openFileSetLockW = 38         // F_OFD_SETLKW
	queued           = 0x541b     // FIONREAD, asm-generic/ioctls.h
	nonBlocking      = 0x5421     // FIONBIO
	keepOnExec       = 0x5450     // FIONCLEX
	closeOnExec      = 0x5451     // FIOCLEX
	cloneFile        = 0x40049409 // FICLONE, linux/fs.h
)

// threadForm is clone as pthread_create calls it, in glibc and in musl: a
// thread of this process, no namespace, no tracing, no exit signal (clone(2)).
// A run has one table of descriptors, since RLIMIT_NOFILE bounds each table and
// /proc/PID/fd shows the one of the first thread: without CLONE_FILES every
// thread could hold as many pipes and unlinked files again, unseen. So it is
// with CLONE_FS, the folder that it is in and its umask, and CLONE_SYSVSEM.
func threadForm() []test {
	const meaningful = threadNeeds | ^uint32(threadNeeds|threadMayAdd)
	return form(bits(0, meaningful, threadNeeds))
}

// argumentForms are the calls whose arguments decide, for template and child
// alike.
func argumentForms() []entry {
	return []entry{
		fcntlForms(),
		ioctlForms(),
		// CLOSE_RANGE_UNSHARE would give the thread a table of its own; see
		// threadForm. os.closerange and subprocess pass no flag.
		where("close_range", form(within(2, unix.CLOSE_RANGE_CLOEXEC))),
		// No address: a connected socket's peer is the only one in reach.
		where("sendto", form(is(4, 0))),
		// asyncio's self-pipe.
		where("socketpair", form(is(0, unix.AF_UNIX), bits(1, ^uint32(socketBits), unix.SOCK_STREAM), is(2, 0))),
		// What socket.socket(fileno=…) asks. Peer credentials and pidfds are
		// in the same call, so the options are listed.
		where("getsockopt", form(is(1, unix.SOL_SOCKET),
			is(2, unix.SO_TYPE, unix.SO_PROTOCOL, unix.SO_DOMAIN, unix.SO_ERROR))),
		// The clocks by name, with those of this process and this thread. A
		// negative one has the number of a process in it, complemented and
		// shifted, and tells its processor time, whosever it is
		// (clock_getcpuclockid(3)); or that of a thread, which the kernel
		// answers to its own process alone, and which nothing here needs.
		where("clock_gettime", form(within(0, 15))),
		where("clock_getres", form(within(0, 15))),
		where("clock_nanosleep", form(within(0, 15))),
		// O_EXCL would make a notification queue (pipe(2), O_NOTIFICATION_PIPE).
		where("pipe2", form(within(1, unix.O_CLOEXEC|unix.O_NONBLOCK))),
	}
}

// fcntlForms leave out all that makes the kernel send signals (F_SETOWN,
// F_SETOWN_EX, F_SETSIG, F_NOTIFY, leases, O_ASYNC), seals, and pipe sizes,
// which are a budget shared by all processes of a uid (fcntl(2), pipe(7)).
func fcntlForms() entry {
	return where("fcntl",
		form(is(1, unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL,
			unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, openFileGetLock, openFileSetLock, openFileSetLockW,
			unix.F_GETPIPE_SZ, unix.F_GET_SEALS)),
		form(is(1, unix.F_SETFL), bits(2, unix.O_ASYNC, 0)),
	)
}

// ioctlForms are what Python's files, sockets and isatty use. pathlib's copy
// tries FICLONE first and goes on only if that is unsupported.
func ioctlForms() entry {
	e := where("ioctl", form(is(1, queued, nonBlocking, keepOnExec, closeOnExec, unix.TCGETS, unix.TIOCGWINSZ)))
	e.rule.clauses = append(e.rule.clauses, clause{form(is(1, cloneFile)), unsupported})
	return e
}
