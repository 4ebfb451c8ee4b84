//go:build linux

package guard

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

const top = 1 << 32 // the lowest bit of an argument's high word

func a(args ...uint64) (out [6]uint64) {
	copy(out[:], args)
	return out
}

// formCases are calls whose arguments decide: the template's verdict, then the
// one that counts in a child behind a file wall.
var formCases = []struct {
	name            string
	args            [6]uint64
	template, child verdict
}{
	{"openat", a(0, 0, unix.O_RDONLY), allowed, allowed},
	{"openat", a(0, 0, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0o7777), allowed, allowed},
	{"openat", a(0, 0, unix.O_RDONLY|unix.O_CREAT, 0o644), allowed, allowed},
	{"openat", a(0, 0, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC, 0o666), allowed, allowed},
	{"openat", a(0, 0, unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC, 0o666), allowed, allowed},
	{"openat", a(0, 0, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600), allowed, allowed},
	{"openat", a(0, 0, unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND, 0o666), allowed, allowed},
	{"openat", a(0, 0, unix.O_RDONLY|unix.O_TRUNC), refused, refused},
	{"openat", a(0, 0, unix.O_RDONLY|unix.O_TRUNC|unix.O_CREAT, 0o666), refused, refused},
	{"openat", a(0, 0, unix.O_ACCMODE|unix.O_TRUNC), refused, refused},
	{"openat", a(0, 0, top|unix.O_RDONLY), refused, refused},
	{"openat", a(0, 0, top|unix.O_WRONLY|unix.O_TRUNC, 0o666), refused, refused},
	{"openat", a(0, 0, unix.O_WRONLY|unix.O_CREAT, 0o4755), refused, refused},
	{"openat", a(0, 0, unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC, 0o2755), refused, refused},
	{"openat", a(0, 0, unix.O_RDWR|unix.O_TMPFILE, 0o4755), refused, refused},
	{"openat", a(0, 0, unix.O_RDWR|unix.O_CREAT, top|0o644), refused, refused},
	{"open", a(0, unix.O_RDONLY), allowed, allowed},
	{"open", a(0, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC, 0o666), allowed, allowed},
	{"open", a(0, unix.O_RDONLY|unix.O_TRUNC), refused, refused},
	{"open", a(0, unix.O_RDWR|unix.O_CREAT, 0o6644), refused, refused},
	{"openat2", a(0, 0, 0, 24), unknown, unknown},

	{"clone", a(uint64(forkFlags)), allowed, refused},
	{"clone", a(uint64(unix.SIGCHLD)), allowed, refused},
	{"clone", a(0x3d0f00), allowed, allowed}, // pthread_create of glibc
	{"clone", a(0x7d0f00), allowed, allowed}, // and of musl
	{"clone", a(0), refused, refused},
	{"clone", a(top | 0x3d0f00), refused, refused},
	{"clone", a(top | uint64(forkFlags)), refused, refused},
	{"clone", a(0x3d0f00 | uint64(unix.SIGCHLD)), refused, refused},
	{"clone", a(0x3d0f00 &^ unix.CLONE_THREAD), refused, refused},
	{"clone", a(0x3d0f00 &^ unix.CLONE_VM), refused, refused},
	{"clone", a(0x3d0f00 &^ unix.CLONE_SIGHAND), refused, refused},
	{"clone", a(0x3d0f00 &^ unix.CLONE_FILES), refused, refused},
	{"clone", a(0x3d0f00 &^ unix.CLONE_FS), refused, refused},
	{"clone", a(0x3d0f00 &^ unix.CLONE_SYSVSEM), refused, refused},
	{"clone", a(0x3d0f00 | unix.CLONE_NEWNS), refused, refused},
	{"clone", a(0x3d0f00 | unix.CLONE_PTRACE), refused, refused},
	{"clone", a(0x3d0f00 | unix.CLONE_UNTRACED), refused, refused},
	{"clone", a(uint64(forkFlags) | unix.CLONE_NEWUSER), refused, refused},
	{"clone", a(uint64(forkFlags) | unix.CLONE_PARENT), refused, refused},
	{"clone", a(unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)), refused, refused},
	{"clone3", a(0, 88), unknown, unknown},
	{"close_range", a(4, 1<<20), allowed, allowed},
	{"close_range", a(4, 1<<32-1, unix.CLOSE_RANGE_CLOEXEC), allowed, allowed},
	{"close_range", a(4, 1<<20, unix.CLOSE_RANGE_UNSHARE), refused, refused},
	{"close_range", a(4, 1<<20, unix.CLOSE_RANGE_UNSHARE|unix.CLOSE_RANGE_CLOEXEC), refused, refused},
	{"close_range", a(4, 1<<20, top), refused, refused},
	{"fork", a(), allowed, refused},

	{"fcntl", a(0, unix.F_DUPFD_CLOEXEC, 3), allowed, allowed},
	{"fcntl", a(0, unix.F_GETFL), allowed, allowed},
	{"fcntl", a(0, unix.F_GETLK), allowed, allowed},
	{"fcntl", a(0, unix.F_SETLK), nothing, nothing},
	{"fcntl", a(0, unix.F_SETLKW), nothing, nothing},
	{"fcntl", a(0, top|unix.F_SETLK), refused, refused},
	{"fcntl", a(0, 36), answer(unix.EINVAL), answer(unix.EINVAL)}, // F_OFD_GETLK
	{"fcntl", a(0, 37), answer(unix.EINVAL), answer(unix.EINVAL)}, // F_OFD_SETLK
	{"fcntl", a(0, 38), answer(unix.EINVAL), answer(unix.EINVAL)}, // F_OFD_SETLKW
	{"fcntl", a(0, unix.F_GET_SEALS), allowed, allowed},
	{"fcntl", a(0, unix.F_SETFL, unix.O_NONBLOCK), allowed, allowed},
	{"fcntl", a(0, unix.F_SETFL, unix.O_ASYNC), refused, refused},
	{"fcntl", a(0, unix.F_SETFL, unix.O_ASYNC|unix.O_NONBLOCK), refused, refused},
	{"fcntl", a(0, unix.F_SETFL, unix.O_RDWR|unix.O_APPEND|0o100000), allowed, allowed}, // O_LARGEFILE
	{"fcntl", a(0, unix.F_SETFL, unix.O_WRONLY|unix.O_DIRECT), refused, refused},
	{"fcntl", a(0, unix.F_SETFL, 0o40000), refused, refused},
	{"fcntl", a(0, unix.F_SETFL, 0o200000), refused, refused}, // O_DIRECT of arm64
	{"fcntl", a(0, unix.F_SETFL, top), refused, refused},
	{"fcntl", a(0, top|unix.F_GETFL), refused, refused},
	{"fcntl", a(0, unix.F_SETOWN, 1), refused, refused},
	{"fcntl", a(0, unix.F_SETOWN_EX, 1), refused, refused},
	{"fcntl", a(0, unix.F_SETSIG, 9), refused, refused},
	{"fcntl", a(0, unix.F_SETLEASE), refused, refused},
	{"fcntl", a(0, unix.F_NOTIFY), refused, refused},
	{"fcntl", a(0, unix.F_SETPIPE_SZ, 1<<20), refused, refused},
	{"fcntl", a(0, unix.F_ADD_SEALS), refused, refused},

	{"ioctl", a(0, unix.TCGETS), allowed, allowed},
	{"ioctl", a(0, 0x541b), allowed, allowed}, // FIONREAD
	{"ioctl", a(0, 0x5421), allowed, allowed}, // FIONBIO
	{"ioctl", a(0, 0x5451), allowed, allowed}, // FIOCLEX
	{"ioctl", a(0, top|unix.TCGETS), refused, refused},
	{"ioctl", a(0, 0x5452), refused, refused}, // FIOASYNC
	{"ioctl", a(0, unix.TIOCSTI), refused, refused},
	{"ioctl", a(0, unix.TIOCSCTTY), refused, refused},
	{"ioctl", a(0, unix.SIOCGIFCONF), refused, refused},
	{"ioctl", a(0, unix.FICLONE), unsupported, unsupported},

	{"sendto", a(3, 1, 1, 0, 0, 0), allowed, allowed},
	{"sendto", a(3, 1, 1, 0, 4096, 16), refused, refused},
	{"sendto", a(3, 1, 1, 0, top, 16), refused, refused},
	{"sendto", a(3, 1, 1, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0), allowed, allowed},
	{"sendto", a(3, 1, 1, unix.MSG_OOB, 0, 0), refused, refused},
	{"sendto", a(3, 1, 1, unix.MSG_ZEROCOPY, 0, 0), refused, refused},
	{"sendto", a(3, 1, 1, unix.MSG_FASTOPEN, 0, 0), refused, refused},
	{"sendto", a(3, 1, 1, top, 0, 0), refused, refused},
	{"recvfrom", a(3, 1, 1), allowed, allowed},
	{"recvfrom", a(3, 1, 1, unix.MSG_PEEK|unix.MSG_DONTWAIT), allowed, allowed},
	{"recvfrom", a(3, 1, 1, unix.MSG_WAITALL|unix.MSG_TRUNC), allowed, allowed},
	{"recvfrom", a(3, 1, 1, unix.MSG_OOB), refused, refused},
	{"recvfrom", a(3, 1, 1, unix.MSG_OOB|unix.MSG_PEEK), refused, refused},
	{"recvfrom", a(3, 1, 1, unix.MSG_ERRQUEUE), refused, refused},
	{"socketpair", a(unix.AF_UNIX, unix.SOCK_STREAM), allowed, allowed},
	{"socketpair", a(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK), allowed, allowed},
	{"socketpair", a(unix.AF_UNIX, unix.SOCK_DGRAM), refused, refused},
	{"socketpair", a(unix.AF_UNIX, unix.SOCK_SEQPACKET), refused, refused},
	{"socketpair", a(unix.AF_UNIX, unix.SOCK_STREAM, 1), refused, refused},
	{"socketpair", a(top|unix.AF_UNIX, unix.SOCK_STREAM), refused, refused},
	{"getsockopt", a(3, unix.SOL_SOCKET, unix.SO_TYPE), allowed, allowed},
	{"getsockopt", a(3, unix.SOL_SOCKET, unix.SO_PEERCRED), refused, refused},
	{"getsockopt", a(3, unix.SOL_SOCKET, unix.SO_PEERPIDFD), refused, refused},
	{"getsockopt", a(3, unix.SOL_TCP, unix.SO_TYPE), refused, refused},
	{"clock_gettime", a(unix.CLOCK_PROCESS_CPUTIME_ID), allowed, allowed},
	{"clock_gettime", a(unix.CLOCK_THREAD_CPUTIME_ID), allowed, allowed},
	{"clock_gettime", a(0xfffffff2), refused, refused}, // the processor time of process 1
	{"clock_gettime", a(^uint64(13)), refused, refused},
	{"clock_gettime", a(0xfffffff6), refused, refused}, // the same of its first thread alone
	{"clock_getres", a(unix.CLOCK_TAI), allowed, allowed},
	{"clock_getres", a(0xfffffff2), refused, refused},
	{"clock_nanosleep", a(unix.CLOCK_MONOTONIC), allowed, allowed},
	{"clock_nanosleep", a(0xfffffff2), refused, refused},
	{"pipe2", a(0, unix.O_CLOEXEC|unix.O_NONBLOCK), allowed, allowed},
	{"pipe2", a(0, unix.O_EXCL), refused, refused},

	{"unshare", a(unix.CLONE_NEWUSER), allowed, refused},
	{"unshare", a(unix.CLONE_NEWUSER | unix.CLONE_NEWNS), refused, refused},
	{"unshare", a(unix.CLONE_FILES), refused, refused},
	{"unshare", a(top | unix.CLONE_NEWUSER), refused, refused},

	{"getrandom", a(0, 16), allowed, allowed},
	{"getrandom", a(0, 16, unix.GRND_NONBLOCK), allowed, allowed},
	{"getrandom", a(0, 16, unix.GRND_INSECURE), allowed, allowed},
	{"getrandom", a(0, 16, unix.GRND_RANDOM), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"getrandom", a(0, 16, unix.GRND_RANDOM|unix.GRND_NONBLOCK), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"renameat2", a(), allowed, allowed},
	{"renameat2", a(0, 0, 0, 0, unix.RENAME_NOREPLACE), allowed, allowed},
	{"renameat2", a(0, 0, 0, 0, unix.RENAME_EXCHANGE), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"renameat2", a(0, 0, 0, 0, unix.RENAME_WHITEOUT), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"renameat2", a(0, 0, 0, 0, unix.RENAME_WHITEOUT|unix.RENAME_NOREPLACE), answer(unix.EINVAL), answer(unix.EINVAL)},

	{"futex", a(0, 0), allowed, allowed},          // FUTEX_WAIT
	{"futex", a(0, 128|1), allowed, allowed},      // FUTEX_WAKE_PRIVATE
	{"futex", a(0, 128|4), allowed, allowed},      // FUTEX_CMP_REQUEUE_PRIVATE
	{"futex", a(0, 256|9), allowed, allowed},      // FUTEX_WAIT_BITSET with the clock
	{"futex", a(0, 6), unknown, unknown},          // FUTEX_LOCK_PI
	{"futex", a(0, 128|6), unknown, unknown},      // the same in private
	{"futex", a(0, 128|7), unknown, unknown},      // FUTEX_UNLOCK_PI
	{"futex", a(0, 128|8), unknown, unknown},      // FUTEX_TRYLOCK_PI
	{"futex", a(0, 11), unknown, unknown},         // FUTEX_WAIT_REQUEUE_PI
	{"futex", a(0, 12), unknown, unknown},         // FUTEX_CMP_REQUEUE_PI
	{"futex", a(0, 128|256|13), unknown, unknown}, // FUTEX_LOCK_PI2
	{"futex", a(0, 2), unknown, unknown},          // FUTEX_FD
	{"futex", a(0, top|1), unknown, unknown},

	{"mmap", a(0, 4096, 3, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, 1<<64-1), allowed, allowed},
	{"mmap", a(0, 4096, 7, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_STACK|unix.MAP_NORESERVE|unix.MAP_POPULATE), allowed, allowed},
	{"mmap", a(0, 4096, 5, unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_DENYWRITE), allowed, allowed},
	{"mmap", a(0, 4096, 3, unix.MAP_SHARED), allowed, allowed},
	{"mmap", a(0, 4096, 3, unix.MAP_SHARED_VALIDATE), allowed, allowed},
	{"mmap", a(0, 4096, 3, 8|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE), allowed, allowed}, // MAP_DROPPABLE
	{"mmap", a(0, 4096, 3, unix.MAP_SHARED|unix.MAP_ANONYMOUS), refused, refused},
	{"mmap", a(0, 4096, 3, unix.MAP_SHARED_VALIDATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE), refused, refused},
	{"mmap", a(0, 4096, 3, unix.MAP_ANONYMOUS), refused, refused},
	{"mmap", a(0, 4096, 3, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_HUGETLB), refused, refused},
	{"mmap", a(0, 4096, 3, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_HUGETLB|unix.MAP_HUGE_2MB), refused, refused},
	{"mmap", a(0, 4096, 3, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_LOCKED), refused, refused},
	{"mmap", a(0, 4096, 3, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_GROWSDOWN), refused, refused},
	{"mmap", a(0, 4096, 3, unix.MAP_SHARED_VALIDATE|unix.MAP_SYNC), refused, refused},
	{"mmap", a(0, 4096, 3, unix.MAP_PRIVATE|1<<26), refused, refused}, // MAP_UNINITIALIZED
	{"mmap", a(0, 4096, 3, top|unix.MAP_PRIVATE), refused, refused},
	{"mremap", a(0, 4096, 8192, unix.MREMAP_MAYMOVE), allowed, allowed},
	{"mremap", a(0, 4096, 8192, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED), allowed, allowed},
	{"mremap", a(0, 4096, 4096, unix.MREMAP_MAYMOVE|unix.MREMAP_DONTUNMAP), refused, refused},
	{"madvise", a(0, 4096, unix.MADV_DONTNEED), allowed, allowed},
	{"madvise", a(0, 4096, unix.MADV_FREE), allowed, allowed},
	{"madvise", a(0, 4096, unix.MADV_HUGEPAGE), allowed, allowed},
	{"madvise", a(0, 4096, 102), allowed, allowed}, // MADV_GUARD_INSTALL
	{"madvise", a(0, 4096, unix.MADV_MERGEABLE), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"madvise", a(0, 4096, unix.MADV_UNMERGEABLE), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"madvise", a(0, 4096, unix.MADV_HWPOISON), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"madvise", a(0, 4096, 101), answer(unix.EINVAL), answer(unix.EINVAL)}, // MADV_SOFT_OFFLINE
	{"madvise", a(0, 4096, unix.MADV_REMOVE), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"madvise", a(0, 4096, unix.MADV_COLD), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"madvise", a(0, 4096, unix.MADV_PAGEOUT), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"madvise", a(0, 4096, 25), answer(unix.EINVAL), answer(unix.EINVAL)}, // MADV_COLLAPSE
	{"madvise", a(0, 4096, 104), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"madvise", a(0, 4096, top|unix.MADV_DONTNEED), answer(unix.EINVAL), answer(unix.EINVAL)},
	{"membarrier", a(0), allowed, allowed},      // to ask
	{"membarrier", a(1 << 3), allowed, allowed}, // MEMBARRIER_CMD_PRIVATE_EXPEDITED
	{"membarrier", a(1 << 4), allowed, allowed}, // and to register for it
	{"membarrier", a(1 << 0), refused, refused}, // MEMBARRIER_CMD_GLOBAL
	{"membarrier", a(1 << 1), refused, refused}, // MEMBARRIER_CMD_GLOBAL_EXPEDITED
	{"membarrier", a(1 << 2), refused, refused}, // and to register for it

	{"prlimit64", a(0, unix.RLIMIT_AS, 0, 1), allowed, allowed},
	{"prlimit64", a(0, unix.RLIMIT_CORE, 0, 1), allowed, allowed},
	{"prlimit64", a(0, unix.RLIMIT_CORE, 4096), refused, refused},
	{"prlimit64", a(0, unix.RLIMIT_CORE, top), refused, refused},
	{"prlimit64", a(0, top|unix.RLIMIT_AS, 4096), refused, refused},
	{"prlimit64", a(0, unix.RLIMIT_NPROC, 4096), allowed, allowed},
	{"prlimit64", a(0, unix.RLIMIT_AS, 4096), allowed, allowed},
	{"prlimit64", a(0, unix.RLIMIT_AS, top), allowed, allowed},
	{"prlimit64", a(1, unix.RLIMIT_AS, 0, 1), refused, refused},
	{"prlimit64", a(top, unix.RLIMIT_AS, 0, 1), refused, refused},
	{"prctl", a(unix.PR_SET_PDEATHSIG, 9), allowed, refused},
	{"prctl", a(unix.PR_SET_NO_NEW_PRIVS, 1), allowed, refused},
	{"prctl", a(unix.PR_SET_SECCOMP, 2), refused, refused},
	{"prctl", a(unix.PR_SET_PTRACER, 1), refused, refused},
	{"prctl", a(unix.PR_SET_MM), refused, refused},
	{"prctl", a(top | unix.PR_SET_PDEATHSIG), refused, refused},
	{"seccomp", a(unix.SECCOMP_SET_MODE_FILTER, SpecAllow), allowed, refused},
	{"seccomp", a(unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER), refused, refused},
	{"seccomp", a(unix.SECCOMP_SET_MODE_STRICT), refused, refused},

	{"kill", a(1, 9), allowed, refused},
	{"kill", a(0, 9), allowed, refused},
	{"kill", a(1<<32-1, 9), allowed, refused},
	{"kill", a(1<<64-1, 9), allowed, refused},
	{"kill", a(OwnPID, 9), allowed, allowed},
	{"kill", a(top|OwnPID, 9), allowed, refused},
	{"tgkill", a(1, 1, 9), allowed, refused},
	{"tgkill", a(OwnPID, 1, 9), allowed, allowed},
	{"getsid", a(0), allowed, allowed},
	{"getsid", a(OwnPID), allowed, allowed},
	{"getsid", a(1), allowed, refused},
	{"getsid", a(top), allowed, refused},
	{"getsid", a(top | OwnPID), allowed, refused},
	{"getpgid", a(0), allowed, allowed},
	{"getpgid", a(OwnPID), allowed, allowed},
	{"getpgid", a(1), allowed, refused},
	{"getpgid", a(1<<64 - 1), allowed, refused},
	{"sched_getaffinity", a(0, 128), allowed, allowed},
	{"sched_getaffinity", a(OwnPID, 128), allowed, allowed},
	{"sched_getaffinity", a(OwnPID+1, 128), allowed, refused},
	{"sched_getaffinity", a(1, 128), allowed, refused},
	{"sched_getaffinity", a(top, 128), allowed, refused},

	{"fchmodat", a(), nothing, nothing},
	{"fadvise64", a(3, 0, 0, 4), nothing, nothing}, // POSIX_FADV_DONTNEED
	{"utimensat", a(), nothing, nothing},
	{"listxattr", a(), unsupported, unsupported},
	{"fallocate", a(), unsupported, unsupported},
	{"sendfile", a(), answer(unix.ENOTSOCK), answer(unix.ENOTSOCK)},
	{"copy_file_range", a(), answer(unix.EXDEV), answer(unix.EXDEV)},
}

// assembled is what both has made, which every test asks again.
var assembled = map[string][2][]byte{}

// both returns the template's verdict and the one in a child.
func both(t *testing.T, goarch string, left files, c call) (template, child verdict) {
	t.Helper()
	key := fmt.Sprint(goarch, left)
	if assembled[key][0] == nil {
		assembled[key] = [2][]byte{program(t, goarch, templatePolicy()), program(t, goarch, childPolicy(left))}
	}
	template, _ = interpret(t, assembled[key][0], c)
	child, _ = interpret(t, assembled[key][1], c)
	return template, stacked(child, template)
}

func TestForms(t *testing.T) {
	for goarch, arch := range archs {
		for _, tc := range formCases {
			nr := arch.number(numbers[tc.name])
			if nr == absent {
				continue
			}
			template, child := both(t, goarch, walled, call{arch.audit, uint32(nr), tc.args})
			if template != tc.template || child != tc.child {
				t.Errorf("%s %s%x: %#x, %#x; want %#x, %#x",
					arch.name, tc.name, tc.args, template, child, tc.template, tc.child)
			}
		}
	}
}

// TestEveryFormHasCases keeps the table above complete: a rule that looks at
// arguments needs an allowed and a refused example.
func TestEveryFormHasCases(t *testing.T) {
	seen := map[string]bool{}
	for _, tc := range formCases {
		seen[fmt.Sprintf("template %s %t", tc.name, tc.template == allowed)] = true
		seen[fmt.Sprintf("child %s %t", tc.name, tc.child == allowed)] = true
	}
	for stage, p := range map[string]policy{"template": templatePolicy(), "child": childPolicy(walled)} {
		for _, e := range p.entries {
			for _, pass := range []bool{true, false} {
				key := fmt.Sprintf("%s %s %t", stage, e.name, pass)
				if !e.rule.plain() && !seen[key] {
					t.Errorf("no case: %s", key)
				}
			}
		}
	}
}
