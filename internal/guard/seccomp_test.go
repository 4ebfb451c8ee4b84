//go:build linux

package guard

import (
	"bytes"
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

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
	gone := []string{
		"fork", "recvmsg", "wait4", "waitid", "prctl", "seccomp", "landlock_restrict_self", "kill", "tgkill",
	}
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
	"setfsuid", "setsid", "setpgid", "setpriority", "sched_setscheduler", "sched_setaffinity",
	"setrlimit", "splice", "tee", "vmsplice", "sync", "syncfs", "quotactl", "swapon", "reboot", "kexec_load",
	"init_module", "finit_module", "delete_module", "clock_settime", "clock_adjtime", "settimeofday", "adjtimex",
	"acct", "syslog", "sethostname", "setdomainname", "iopl", "ioperm", "modify_ldt", "arch_prctl",
	"shmget", "shmat", "semget", "msgget", "mq_open", "fanotify_init", "inotify_init1", "signalfd4",
	"timer_create", "timerfd_create", "futex_waitv", "statmount", "lsm_set_self_attr", "file_setattr",
	"pkey_mprotect", "mlock", "mlockall", "mbind", "move_pages", "migrate_pages", "remap_file_pages",
	"sysinfo", "statfs", "fstatfs", "ustat", "getpriority", "ioprio_get", "sched_getscheduler", "sched_getparam",
	"sched_getattr", "sched_rr_get_interval", "get_robust_list", "get_mempolicy", "cachestat",
	"mincore", "preadv2", "pwritev2", "sync_file_range", "readahead", "mseal", "map_shadow_stack", "set_mempolicy",
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
		// A number in the template's filter would be the template's, for its children too.
		if bytes.Contains(program(t, goarch, templatePolicy()), word) {
			t.Errorf("%s: OwnPID in the template's filter", goarch)
		}
		for left, want := range map[files]int{walled: 5, readOnly: 5, noFiles: 5} {
			if got := bytes.Count(program(t, goarch, childPolicy(left)), word); got != want {
				t.Errorf("%s: %d words of OwnPID, want %d", goarch, got, want)
			}
		}
	}
}

// TestFiltersStaySmall watches what a kernel without the always-allowed map
// (before 5.11) pays for each call, and what any kernel pays for the two common
// ones whose arguments decide, which are in no such map.
func TestFiltersStaySmall(t *testing.T) {
	for goarch, arch := range archs {
		template, child := program(t, goarch, templatePolicy()), program(t, goarch, childPolicy(walled))
		t.Logf("%s: %d and %d instructions", arch.name, len(template)/8, len(child)/8)
		if len(template)/8 > 640 || len(child)/8 > 100 {
			t.Errorf("%s: %d and %d instructions", arch.name, len(template)/8, len(child)/8)
		}
		for _, tc := range []struct {
			name string
			args [6]uint64
			most int
		}{
			{"read", a(), 26},
			{"write", a(), 26},
			{"munmap", a(), 26},
			{"futex", a(0, futexPrivate|futexWake), 32},
			{"mmap", a(0, 4096, 3, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS), 32},
		} {
			c := call{arch.audit, uint32(arch.number(numbers[tc.name])), tc.args}
			_, first := interpret(t, template, c)
			_, second := interpret(t, child, c)
			t.Logf("%s %s: %d steps", arch.name, tc.name, first+second)
			if first+second > tc.most {
				t.Errorf("%s %s: %d steps, more than %d", arch.name, tc.name, first+second, tc.most)
			}
		}
	}
}
