//go:build linux

package guard

import (
	"golang.org/x/sys/unix"
)

// Operations of futex and their flags (linux/futex.h).
const (
	futexWait           = 0
	futexWake           = 1
	futexRequeue        = 3
	futexCompareRequeue = 4
	futexWakeOp         = 5
	futexWaitBitset     = 9
	futexWakeBitset     = 10
	futexPrivate        = 128
	futexRealtime       = 256
)

// directBits are O_DIRECT and O_DIRECTORY: what is the one on x86-64 is the other
// on arm64 (asm/fcntl.h).
const directBits = 0o40000 | 0o200000

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
		futexForms(),
		limitForms(),
		// No address: a connected socket's peer is the only one in reach. Of the
		// flags those that say how to wait, and to look without taking. Urgent
		// data (MSG_OOB) is code in the kernel that nothing needs and that
		// sandboxes were left by (CVE-2025-38236, net/unix/af_unix.c); the rest
		// (MSG_ERRQUEUE, MSG_ZEROCOPY, MSG_FASTOPEN) is for networks.
		where("sendto", form(within(3, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL), is(4, 0))),
		where("recvfrom", form(within(3, unix.MSG_DONTWAIT|unix.MSG_PEEK|unix.MSG_WAITALL|unix.MSG_TRUNC))),
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
		// GRND_RANDOM drains what everybody's /dev/random waits for, before
		// Linux 5.6 (getrandom(2)). EINVAL: to a kernel that does not know a flag.
		where("getrandom", form(within(2, unix.GRND_NONBLOCK|unix.GRND_INSECURE))).orElse(answer(unix.EINVAL)),
		// RENAME_WHITEOUT makes a device file, which no file wall is asked about
		// and which hides a file where the folder is a layer of an overlay
		// (rename(2)). Nobody exchanges two files. EINVAL: to a file system that
		// has no flags.
		where("renameat2", form(is(4, 0, unix.RENAME_NOREPLACE))).orElse(answer(unix.EINVAL)),
	}
}

// futexForms wait and wake by words in memory. The operations that inherit
// priorities take the number of a thread from that word, look for it among all
// processes and, if it may be, lend it the caller's priority (futex(2),
// "Priority-inheritance futexes"; attach_to_pi_owner in kernel/futex/pi.c): they
// tell whether any process exists. glibc takes ENOSYS for a kernel without them.
// FUTEX_PRIVATE_FLAG is no condition: pthread_join waits without it.
func futexForms() entry {
	return where("futex", form(test{1, ^uint32(futexPrivate | futexRealtime), []uint32{
		futexWake, futexWait, futexWaitBitset, futexWakeBitset, futexRequeue, futexCompareRequeue, futexWakeOp,
	}})).orElse(unknown)
}

// limitForms ask for limits, and set those that a run may lower for itself; it
// can raise none. RLIMIT_CORE stays what limitCore made it.
func limitForms() entry {
	return where("prlimit64",
		form(is(0, 0), is(2, 0)),
		form(is(0, 0), is(1, unix.RLIMIT_AS, unix.RLIMIT_CPU, unix.RLIMIT_NPROC, unix.RLIMIT_NOFILE, unix.RLIMIT_FSIZE,
			unix.RLIMIT_MEMLOCK, rlimitMsgqueue, unix.RLIMIT_DATA, unix.RLIMIT_STACK)),
	)
}

// fcntlForms leave out all that makes the kernel send signals (F_SETOWN,
// F_SETOWN_EX, F_SETSIG, F_NOTIFY, leases, O_ASYNC), seals, and pipe sizes,
// which are a budget shared by all processes of a uid (fcntl(2), pipe(7)).
// F_SETFL does not make a pipe one of packets (O_DIRECT), as pipe2 does not: the
// server would read its output in pieces as small as the run likes.
//
// To lock a part of a file succeeds and does nothing. Such a lock is the
// process's (fcntl(2), "Advisory record locking"), so it would keep out none but
// other processes, and a run's files are for its one process. The kernel has a
// record of each lock, as many as one likes, since no limit counts them
// (RLIMIT_LOCKS is of Linux 2.4, getrlimit(2)). SQLite needs both: to lock, and
// to ask who has. Locks of an open file (F_OFD_SETLK) do keep each other out
// inside a process; EINVAL is the answer of kernels without them.
func fcntlForms() entry {
	e := where("fcntl",
		form(is(1, unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL,
			unix.F_GETLK, unix.F_GETPIPE_SZ, unix.F_GET_SEALS)),
		form(is(1, unix.F_SETFL), bits(2, unix.O_ASYNC|directBits, 0)),
	)
	e.rule.clauses = append(e.rule.clauses,
		clause{form(is(1, unix.F_SETLK, unix.F_SETLKW)), nothing},
		clause{form(is(1, openFileGetLock, openFileSetLock, openFileSetLockW)), answer(unix.EINVAL)})
	return e
}

// ioctlForms are what Python's files, sockets and isatty use. pathlib's copy
// tries FICLONE first and goes on only if that is unsupported.
func ioctlForms() entry {
	e := where("ioctl", form(is(1, queued, nonBlocking, keepOnExec, closeOnExec, unix.TCGETS, unix.TIOCGWINSZ)))
	e.rule.clauses = append(e.rule.clauses, clause{form(is(1, cloneFile)), unsupported})
	return e
}
