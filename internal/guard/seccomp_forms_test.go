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
	{"fcntl", a(0, unix.F_SETLKW), allowed, allowed},
	{"fcntl", a(0, unix.F_GET_SEALS), allowed, allowed},
	{"fcntl", a(0, unix.F_SETFL, unix.O_NONBLOCK), allowed, allowed},
	{"fcntl", a(0, unix.F_SETFL, unix.O_ASYNC), refused, refused},
	{"fcntl", a(0, unix.F_SETFL, unix.O_ASYNC|unix.O_NONBLOCK), refused, refused},
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
	{"prlimit64", a(0, unix.RLIMIT_AS, 0, 1), allowed, allowed},
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
	{"utimensat", a(), nothing, nothing},
	{"listxattr", a(), unsupported, unsupported},
	{"fallocate", a(), unsupported, unsupported},
	{"sendfile", a(), answer(unix.ENOTSOCK), answer(unix.ENOTSOCK)},
	{"copy_file_range", a(), answer(unix.EXDEV), answer(unix.EXDEV)},
}

// both returns the template's verdict and the one in a child.
func both(t *testing.T, goarch string, left files, c call) (template, child verdict) {
	t.Helper()
	template, _ = interpret(t, program(t, goarch, templatePolicy()), c)
	child, _ = interpret(t, program(t, goarch, childPolicy(left)), c)
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
