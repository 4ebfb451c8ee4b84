//go:build linux

package guard

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Flags that are the same on both architectures (asm-generic/fcntl.h,
// linux/sched.h, linux/net.h); O_DIRECT and O_DIRECTORY are not, and are not
// used.
const (
	tmpfileBit   = 0o20000000 // __O_TMPFILE without O_DIRECTORY
	setIDBits    = unix.S_ISUID | unix.S_ISGID
	threadNeeds  = unix.CLONE_VM | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_FILES | unix.CLONE_FS | unix.CLONE_SYSVSEM
	threadMayAdd = unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID |
		unix.CLONE_DETACHED
	forkFlags  = unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID | uint32(unix.SIGCHLD)
	socketBits = unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
)

// templatePolicy is everything that Python needs while it runs snippets, and
// what the template needs to make children. The rest is EPERM.
func templatePolicy() policy {
	return policy{otherwise: refused, entries: slices.Concat(
		harmless(), stubs(), fileForms("open", 1), fileForms("openat", 2), memoryForms(), argumentForms(), forTemplate(),
	)}
}

// harmless calls act on the process itself, its own descriptors, or paths
// that the file wall mediates. Three take a process number as well, which
// childPolicy narrows: only a child's own filter can know its number. Each group
// says why no argument is looked at; those that are have a form of their own.
//
// truncate is missing on purpose: under Landlock before ABI 3 it empties files
// outside the work folder. So is sysinfo, which tells the host's load, memory
// and number of processes: Python needs it for nothing. glibc's
// sysconf(_SC_PHYS_PAGES) does not look at the refusal and answers with some
// number, which os.sysconf hands on; its qsort takes any number as a bound on
// the memory that it asks for. os.cpu_count goes by sched_getaffinity. And
// mincore, which tells of a file of one's own user what of it others have read
// (mincore(2), since Linux 5.2; before, of every file): nothing in Python asks.
func harmless() []entry {
	return slices.Concat(
		// No flags: preadv2 and pwritev2, which have them, are not here.
		same(allowed, "read", "write", "readv", "writev", "pread64", "pwrite64", "lseek"),
		// The process's own memory, as far as RLIMIT_AS lets it have any. Any
		// protection: ctypes and compilers make code. msync and fsync write
		// what is in files of the run, whose size is bounded.
		same(allowed, "munmap", "mprotect", "brk", "msync"),
		// Words in its own memory that the kernel writes to when a thread ends
		// or moves. All flags are about that thread.
		same(allowed, "set_robust_list", "rseq", "set_tid_address", "sched_yield", "sched_getaffinity", "getcpu"),
		// Paths: what exists is visible by stat, which docs/security.md says.
		// The flags choose how links are followed and how fresh the answer is.
		same(allowed,
			"stat", "lstat", "fstat", "newfstatat", "statx",
			"access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64", "getcwd"),
		// Changes of paths, and of files that are open for writing, which the
		// file wall decides about. unlinkat's one flag makes it rmdir. flock is
		// one lock for each open file, so descriptors bound it; other runs can
		// see it on a file of the library, and wait for it, as fcntl's locks.
		same(allowed,
			"chdir", "fchdir", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat",
			"rename", "renameat", "ftruncate", "fsync", "fdatasync", "flock", "umask"),
		// Descriptors, which RLIMIT_NOFILE bounds: a number above it is refused.
		// The flags of dup3, eventfd2 and epoll_create1 are close-on-exec, not
		// to block and to count as a semaphore; the kernel takes no others.
		// What epoll watches is bounded by descriptors squared, its nesting by
		// the kernel; EPOLLWAKEUP takes CAP_BLOCK_SUSPEND (epoll_ctl(2)).
		same(allowed,
			"close", "dup", "dup2", "dup3", "pipe", "eventfd2", "poll", "ppoll", "select", "pselect6",
			"epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "getsockname"),
		// Signals to itself and its own timers, one of a kind. SA_* flags say
		// how its handlers run.
		same(allowed,
			"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "sigaltstack",
			"setitimer", "getitimer", "alarm", "pause", "restart_syscall", "nanosleep", "exit", "exit_group"),
		// Questions about itself, and about the clock and the kernel's version.
		// getrusage is of itself, its thread, or children, which it has none of.
		same(allowed,
			"gettimeofday", "time", "times", "getrusage", "getrlimit", "getpid", "gettid", "getppid",
			"getpgid", "getpgrp", "getsid", "getuid", "geteuid", "getgid", "getegid", "getgroups", "getresuid",
			"getresgid", "uname"),
	)
}

// stubs answer without acting, each with the one answer that makes its callers
// carry on. chmod and utime are not mediated by Landlock, yet shutil.copy must
// work; shutil.copystat swallows ENOTSUP of xattr calls but not EPERM; the
// fast copies of shutil and pathlib fall back to read and write on ENOTSOCK
// and EXDEV; glibc falls back from clone3 to clone on ENOSYS only. fallocate
// could fill a disk faster than anyone looks. fadvise64 is a hint, which may be
// taken or not (posix_fadvise(2)); taken, POSIX_FADV_DONTNEED throws files of the
// library that other runs read out of memory.
func stubs() []entry {
	return slices.Concat(
		same(nothing, "chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "futimesat", "utimensat", "fadvise64"),
		same(unknown, "clone3", "openat2"),
		same(unsupported, "fallocate",
			"getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
			"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
		same(answer(unix.ENOTSOCK), "sendfile"),
		same(answer(unix.EXDEV), "copy_file_range"),
	)
}

// fileForms are the ways to open; at is the index of the flags, behind which
// comes the mode. O_TRUNC needs a write mode, since O_RDONLY|O_TRUNC empties a
// file that Landlock only checks for reading. A new file cannot be set-uid.
func fileForms(name string, at int) []entry {
	plainMode := bits(at+1, setIDBits, 0)
	return []entry{where(name,
		form(bits(at, unix.O_TRUNC|unix.O_CREAT|tmpfileBit, 0)),
		form(bits(at, unix.O_TRUNC, 0), plainMode),
		form(bits(at, unix.O_ACCMODE, unix.O_WRONLY), plainMode),
		form(bits(at, unix.O_ACCMODE, unix.O_RDWR), plainMode),
	)}
}

// forTemplate are the calls that childPolicy takes away again. Their flags
// are pinned all the same.
func forTemplate() []entry {
	return append(
		same(allowed, "fork", "recvmsg", "wait4", "waitid", "kill", "tgkill", "landlock_restrict_self", "capset"),
		where("clone", threadForm(), form(is(0, forkFlags, uint32(unix.SIGCHLD)))),
		// A child's own user namespace, where its tasks are counted. No flag more: with
		// CLONE_FILES a thread would have descriptors of its own.
		where("unshare", form(is(0, unix.CLONE_NEWUSER))),
		where("prctl", form(is(0,
			unix.PR_SET_PDEATHSIG, unix.PR_GET_PDEATHSIG, unix.PR_SET_DUMPABLE, unix.PR_GET_DUMPABLE,
			unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_NO_NEW_PRIVS, unix.PR_GET_NO_NEW_PRIVS))),
		where("seccomp", form(is(0, unix.SECCOMP_SET_MODE_FILTER), within(1, SpecAllow))),
	)
}
