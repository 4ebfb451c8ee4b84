//go:build linux

package guard

import (
	"bytes"
	"encoding/binary"
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
	{"clone", a(0x3d0f00 | unix.CLONE_NEWNS), refused, refused},
	{"clone", a(0x3d0f00 | unix.CLONE_PTRACE), refused, refused},
	{"clone", a(0x3d0f00 | unix.CLONE_UNTRACED), refused, refused},
	{"clone", a(uint64(forkFlags) | unix.CLONE_NEWUSER), refused, refused},
	{"clone", a(uint64(forkFlags) | unix.CLONE_PARENT), refused, refused},
	{"clone", a(unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)), refused, refused},
	{"clone3", a(0, 88), unknown, unknown},
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
	{"pipe2", a(0, unix.O_CLOEXEC|unix.O_NONBLOCK), allowed, allowed},
	{"pipe2", a(0, unix.O_EXCL), refused, refused},

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

	{"fchmodat", a(), nothing, nothing},
	{"utimensat", a(), nothing, nothing},
	{"listxattr", a(), unsupported, unsupported},
	{"fallocate", a(), unsupported, unsupported},
	{"sendfile", a(), errno(unix.ENOTSOCK), errno(unix.ENOTSOCK)},
	{"copy_file_range", a(), errno(unix.EXDEV), errno(unix.EXDEV)},
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

func TestPlainRules(t *testing.T) {
	for goarch, arch := range archs {
		for _, e := range templatePolicy().entries {
			nr := arch.number(numbers[e.name])
			if nr == absent || !e.rule.plain() {
				continue
			}
			for _, args := range [][6]uint64{{}, a(^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0))} {
				if got, _ := both(t, goarch, walled, call{arch.audit, uint32(nr), args}); got != e.rule.otherwise {
					t.Errorf("%s %s%x: %#x, want %#x", arch.name, e.name, args, got, e.rule.otherwise)
				}
			}
		}
	}
}

func TestChildLosesWhatTheTemplateNeeds(t *testing.T) {
	gone := []string{"fork", "sendmsg", "recvmsg", "wait4", "waitid", "pidfd_open", "prctl", "seccomp",
		"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "kill", "tgkill"}
	for goarch, arch := range archs {
		for _, name := range gone {
			for first := range uint64(64) {
				nr := arch.number(numbers[name])
				if _, child := both(t, goarch, walled, call{arch.audit, uint32(nr), a(first)}); nr != absent && child != refused {
					t.Errorf("%s %s(%d): %#x in a child", arch.name, name, first, child)
				}
			}
		}
	}
}

func TestUnlistedNumbersAreRefused(t *testing.T) {
	for goarch, arch := range archs {
		listed := map[int]bool{}
		for _, e := range templatePolicy().entries {
			listed[arch.number(numbers[e.name])] = true
		}
		template := program(t, goarch, templatePolicy())
		for nr := range 601 {
			if got, _ := interpret(t, template, call{arch: arch.audit, number: uint32(nr)}); !listed[nr] && got != refused {
				t.Errorf("%s %d: %#x", arch.name, nr, got)
			}
		}
		if got, _ := interpret(t, template, call{arch: arch.audit, number: x32Bit - 1}); got != refused {
			t.Errorf("%s below the x32 bit: %#x", arch.name, got)
		}
	}
}

// dangerous calls are named once more on their own, by their published
// numbers, so that a slip in our tables cannot hide one.
var dangerous = []string{
	"execve", "execveat", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp",
	"pidfd_getfd", "pidfd_send_signal", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "process_mrelease",
	"socket", "connect", "bind", "listen", "accept", "accept4", "sendmmsg", "recvmmsg", "setsockopt", "shutdown",
	"truncate", "link", "linkat", "symlink", "symlinkat", "mknod", "mknodat", "creat",
	"chown", "fchown", "lchown", "fchownat", "name_to_handle_at", "open_by_handle_at", "chroot", "pivot_root",
	"mount", "umount2", "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig", "fspick", "mount_setattr",
	"unshare", "setns", "memfd_create", "memfd_secret", "userfaultfd", "bpf", "perf_event_open",
	"io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit",
	"keyctl", "add_key", "request_key", "personality", "setuid", "setgid", "setresuid", "setresgid", "setgroups",
	"setfsuid", "capset", "setsid", "setpgid", "setpriority", "sched_setscheduler", "sched_setaffinity",
	"setrlimit", "splice", "tee", "vmsplice", "sync", "syncfs", "quotactl", "swapon", "reboot", "kexec_load",
	"init_module", "finit_module", "delete_module", "clock_settime", "clock_adjtime", "settimeofday", "adjtimex",
	"acct", "syslog", "sethostname", "setdomainname", "iopl", "ioperm", "modify_ldt", "arch_prctl",
	"shmget", "shmat", "semget", "msgget", "mq_open", "fanotify_init", "inotify_init1", "signalfd4",
	"timer_create", "timerfd_create", "futex_waitv", "statmount", "lsm_set_self_attr", "file_setattr",
	"pkey_mprotect", "mlock", "mlockall", "mbind", "move_pages", "migrate_pages", "remap_file_pages",
}

func TestDangerousCallsAreRefused(t *testing.T) {
	for goarch, arch := range archs {
		known := published(t, goarch)
		template := program(t, goarch, templatePolicy())
		for _, name := range dangerous {
			nr, exists := known[name]
			if !exists {
				continue
			}
			if got, _ := interpret(t, template, call{arch: arch.audit, number: uint32(nr)}); got != refused {
				t.Errorf("%s %s: %#x", arch.name, name, got)
			}
		}
	}
}

func TestOnlyUnixStreamPairs(t *testing.T) {
	for goarch, arch := range archs {
		nr := uint32(arch.number(numbers["socketpair"]))
		template := program(t, goarch, templatePolicy())
		for family := range uint64(64) {
			want := refused
			if family == unix.AF_UNIX {
				want = allowed
			}
			if got, _ := interpret(t, template, call{arch.audit, nr, a(family, unix.SOCK_STREAM)}); got != want {
				t.Errorf("%s family %d: %#x", arch.name, family, got)
			}
		}
	}
}

func TestForeignEntriesKill(t *testing.T) {
	for goarch, arch := range archs {
		for _, p := range []policy{templatePolicy(), childPolicy(walled)} {
			bytes := program(t, goarch, p)
			for _, other := range []uint32{0, unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, unix.AUDIT_ARCH_X86_64, unix.AUDIT_ARCH_AARCH64} {
				if got, _ := interpret(t, bytes, call{arch: other}); other != arch.audit && got != killProcess {
					t.Errorf("%s: arch %#x: %#x", arch.name, other, got)
				}
			}
			for _, nr := range []uint32{x32Bit, x32Bit | 1, x32Bit | 520, ^uint32(0)} {
				if got, _ := interpret(t, bytes, call{arch: arch.audit, number: nr}); got != killProcess {
					t.Errorf("%s: number %#x: %#x", arch.name, nr, got)
				}
			}
		}
	}
}

func TestPathsWithoutAWall(t *testing.T) {
	for goarch, arch := range archs {
		for _, tc := range []struct {
			name           string
			args           [6]uint64
			none, readOnly verdict
		}{
			{"openat", a(0, 0, unix.O_RDONLY|unix.O_CLOEXEC), refused, allowed},
			{"openat", a(0, 0, unix.O_RDONLY|unix.O_CREAT), refused, refused},
			{"openat", a(0, 0, unix.O_WRONLY), refused, refused},
			{"openat", a(0, 0, unix.O_RDWR|unix.O_TMPFILE), refused, refused},
			{"openat", a(0, 0, unix.O_ACCMODE), refused, refused},
			{"openat", a(0, 0, top), refused, refused},
			{"open", a(0, unix.O_RDONLY), refused, allowed},
			{"open", a(0, unix.O_RDWR), refused, refused},
			{"mkdirat", a(), refused, refused},
			{"unlinkat", a(), refused, refused},
			{"renameat2", a(), refused, refused},
			{"fork", a(), refused, refused},
			{"read", a(), allowed, allowed},
			{"newfstatat", a(), allowed, allowed},
		} {
			nr := arch.number(numbers[tc.name])
			if nr == absent {
				continue
			}
			c := call{arch.audit, uint32(nr), tc.args}
			_, none := both(t, goarch, noFiles, c)
			_, ro := both(t, goarch, readOnly, c)
			if none != tc.none || ro != tc.readOnly {
				t.Errorf("%s %s%x: %#x, %#x", arch.name, tc.name, tc.args, none, ro)
			}
		}
	}
}

// TestOwnPIDStandsOnlyForPids lets the child replace the bytes blindly.
func TestOwnPIDStandsOnlyForPids(t *testing.T) {
	word := binary.LittleEndian.AppendUint32(nil, OwnPID)
	for goarch := range archs {
		for left, want := range map[files]int{walled: 2, readOnly: 2, noFiles: 2} {
			if got := bytes.Count(program(t, goarch, childPolicy(left)), word); got != want {
				t.Errorf("%s: %d words of OwnPID, want %d", goarch, got, want)
			}
		}
	}
}

// TestFiltersStaySmall watches what a kernel without the always-allowed map
// (before 5.11) pays for each call.
func TestFiltersStaySmall(t *testing.T) {
	for goarch, arch := range archs {
		template, child := program(t, goarch, templatePolicy()), program(t, goarch, childPolicy(walled))
		t.Logf("%s: %d and %d instructions", arch.name, len(template)/8, len(child)/8)
		if len(template)/8 > 512 || len(child)/8 > 100 {
			t.Errorf("%s: %d and %d instructions", arch.name, len(template)/8, len(child)/8)
		}
		for _, name := range []string{"read", "write", "futex", "mmap", "munmap"} {
			c := call{arch: arch.audit, number: uint32(arch.number(numbers[name]))}
			_, first := interpret(t, template, c)
			_, second := interpret(t, child, c)
			if first+second > 26 {
				t.Errorf("%s %s: %d steps", arch.name, name, first+second)
			}
		}
	}
}
