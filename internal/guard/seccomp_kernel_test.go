//go:build linux

package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestFiltersOnThisKernel(t *testing.T) {
	needSeccomp(t)
	folder := inChild(t)
	if folder == "" {
		return
	}
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, []byte("full"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	program, err := TemplateFilter()
	install(t, program, err)
	checkTemplate(t, file)

	program, err = ChildFilter()
	own := binary.LittleEndian.AppendUint32(nil, uint32(os.Getpid()))
	install(t, bytes.ReplaceAll(program, binary.LittleEndian.AppendUint32(nil, OwnPID), own), err)
	checkTemplate(t, file)
	checkChild(t)
}

func checkTemplate(t *testing.T, file string) {
	t.Helper()
	at := unix.AT_FDCWD
	for _, p := range []probe{
		{"socket", unix.SYS_SOCKET, []uintptr{unix.AF_INET, unix.SOCK_STREAM}, unix.EPERM},
		{"socket unix", unix.SYS_SOCKET, []uintptr{unix.AF_UNIX, unix.SOCK_STREAM}, unix.EPERM},
		{"execve", unix.SYS_EXECVE, []uintptr{text("/bin/true"), 0, 0}, unix.EPERM},
		{"memfd_create", unix.SYS_MEMFD_CREATE, []uintptr{text("x"), 0}, unix.EPERM},
		{"unshare", unix.SYS_UNSHARE, []uintptr{unix.CLONE_NEWNS}, unix.EPERM},
		{"unshare user and more", unix.SYS_UNSHARE, []uintptr{unix.CLONE_NEWUSER | unix.CLONE_NEWNET}, unix.EPERM},
		{"ptrace", unix.SYS_PTRACE, []uintptr{unix.PTRACE_TRACEME}, unix.EPERM},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, []uintptr{1, 0}, unix.EPERM},
		{"truncate", unix.SYS_TRUNCATE, []uintptr{text(file), 0}, unix.EPERM},
		{"truncating read", unix.SYS_OPENAT, []uintptr{uintptr(at), text(file), unix.O_RDONLY | unix.O_TRUNC}, unix.EPERM},
		{"clone3", unix.SYS_CLONE3, []uintptr{0, 0}, unix.ENOSYS},
		{"chmod", unix.SYS_FCHMODAT, []uintptr{uintptr(at), text(file), 0o777}, 0},
		{"sendfile", unix.SYS_SENDFILE, []uintptr{bad, bad, 0, 1}, unix.ENOTSOCK},
		{"sendto", unix.SYS_SENDTO, []uintptr{bad, 0, 0, 0, 0, 0}, unix.EBADF},
		{"sendto address", unix.SYS_SENDTO, []uintptr{bad, 0, 0, 0, 1, 16}, unix.EPERM},
		{"fcntl", unix.SYS_FCNTL, []uintptr{bad, unix.F_GETFL}, unix.EBADF},
		{"fcntl owner", unix.SYS_FCNTL, []uintptr{bad, unix.F_SETOWN, 1}, unix.EPERM},
		{"close_range", unix.SYS_CLOSE_RANGE, []uintptr{1 << 20, 1 << 20, 0}, 0},
		{"close_range on exec", unix.SYS_CLOSE_RANGE, []uintptr{1 << 20, 1 << 20, unix.CLOSE_RANGE_CLOEXEC}, 0},
		{"close_range unshare", unix.SYS_CLOSE_RANGE, []uintptr{1 << 20, 1 << 20, unix.CLOSE_RANGE_UNSHARE}, unix.EPERM},
		{"descriptors of its own", unix.SYS_UNSHARE, []uintptr{unix.CLONE_FILES}, unix.EPERM},
		{"thread with descriptors of its own", unix.SYS_CLONE, []uintptr{0x3d0f00 &^ unix.CLONE_FILES}, unix.EPERM},
		{"thread with a folder of its own", unix.SYS_CLONE, []uintptr{0x3d0f00 &^ unix.CLONE_FS}, unix.EPERM},
		{"advice", unix.SYS_MADVISE, []uintptr{0, 0, unix.MADV_DONTNEED}, 0},
		{"equal pages", unix.SYS_MADVISE, []uintptr{0, 0, unix.MADV_MERGEABLE}, unix.EINVAL},
		{"pages pushed out", unix.SYS_MADVISE, []uintptr{0, 0, unix.MADV_PAGEOUT}, unix.EINVAL},
		{"mapping", unix.SYS_MMAP, []uintptr{0, 4096, unix.PROT_READ, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS, bad}, 0},
		{"mapping of shared memory", unix.SYS_MMAP, []uintptr{0, 4096, unix.PROT_READ, unix.MAP_SHARED | unix.MAP_ANONYMOUS, bad}, unix.EPERM},
		{"mapping that grows", unix.SYS_MMAP, []uintptr{0, 4096, unix.PROT_READ, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_GROWSDOWN, bad}, unix.EPERM},
		{"mapping of huge pages", unix.SYS_MMAP, []uintptr{0, 2 << 20, unix.PROT_READ, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_HUGETLB, bad}, unix.EPERM},
		{"barrier for all", unix.SYS_MEMBARRIER, []uintptr{1}, unix.EPERM},
		{"barrier", unix.SYS_MEMBARRIER, []uintptr{1 << 4}, 0},
		{"mincore", unix.SYS_MINCORE, []uintptr{0, 0, 0}, unix.EPERM},
		{"futex", unix.SYS_FUTEX, []uintptr{words(1, 0), futexWait | futexPrivate, 2}, unix.EAGAIN},
		{"futex of another", unix.SYS_FUTEX, []uintptr{words(1, 0), 6 | futexPrivate}, unix.ENOSYS},
		{"core limit", unix.SYS_PRLIMIT64, []uintptr{0, unix.RLIMIT_CORE, words(0, 0), 0}, unix.EPERM},
		{"urgent data", unix.SYS_SENDTO, []uintptr{bad, 0, 0, unix.MSG_OOB, 0, 0}, unix.EPERM},
		{"urgent data back", unix.SYS_RECVFROM, []uintptr{bad, 0, 0, unix.MSG_OOB, 0, 0}, unix.EPERM},
		{"recvfrom", unix.SYS_RECVFROM, []uintptr{bad, 0, 0, unix.MSG_PEEK, 0, 0}, unix.EBADF},
		{"lock", unix.SYS_FCNTL, []uintptr{bad, unix.F_SETLK}, 0},
		{"lock of an open file", unix.SYS_FCNTL, []uintptr{bad, openFileSetLock}, unix.EINVAL},
		{"fcntl of packets", unix.SYS_FCNTL, []uintptr{bad, unix.F_SETFL, unix.O_DIRECT}, unix.EPERM},
		{"random numbers", unix.SYS_GETRANDOM, []uintptr{0, 0, 0}, 0},
		{"everybody's random numbers", unix.SYS_GETRANDOM, []uintptr{0, 0, unix.GRND_RANDOM}, unix.EINVAL},
		{"whiteout", unix.SYS_RENAMEAT2, []uintptr{uintptr(at), text(file), uintptr(at), text(file + "2"), unix.RENAME_WHITEOUT}, unix.EINVAL},
		{"file advice", unix.SYS_FADVISE64, []uintptr{bad, 0, 0, 4}, 0},
		{"sysinfo", unix.SYS_SYSINFO, []uintptr{0}, unix.EPERM},
		{"unknown", 600, nil, unix.EPERM},
	} {
		p.check(t)
	}
	if st, err := os.Stat(file); err != nil || st.Size() != 4 || st.Mode().Perm() != 0o600 {
		t.Errorf("the file changed: %v, %v", st, err)
	}
}

func checkChild(t *testing.T) {
	t.Helper()
	self, parent := uintptr(os.Getpid()), uintptr(os.Getppid())
	for _, p := range []probe{
		{"fork", unix.SYS_CLONE, []uintptr{uintptr(unix.SIGCHLD)}, unix.EPERM},
		{"recvmsg", unix.SYS_RECVMSG, []uintptr{bad}, unix.EPERM},
		{"sendmsg", unix.SYS_SENDMSG, []uintptr{bad}, unix.EPERM},
		{"wait4", unix.SYS_WAIT4, []uintptr{bad}, unix.EPERM},
		{"prctl", unix.SYS_PRCTL, []uintptr{unix.PR_GET_DUMPABLE}, unix.EPERM},
		{"unshare user", unix.SYS_UNSHARE, []uintptr{unix.CLONE_NEWUSER}, unix.EPERM},
		{"capset", unix.SYS_CAPSET, nil, unix.EPERM},
		{"seccomp", unix.SYS_SECCOMP, []uintptr{unix.SECCOMP_SET_MODE_FILTER, SpecAllow, 0}, unix.EPERM},
		{"landlock", unix.SYS_LANDLOCK_CREATE_RULESET, []uintptr{0, 0, 1}, unix.EPERM},
		{"setrlimit of another", unix.SYS_PRLIMIT64, []uintptr{1, unix.RLIMIT_CORE, 1, 0}, unix.EPERM},
		{"getrlimit", unix.SYS_PRLIMIT64, []uintptr{0, unix.RLIMIT_CORE, 0, 0}, 0},
		{"getsid of the parent", unix.SYS_GETSID, []uintptr{parent}, unix.EPERM},
		{"getsid of nobody", unix.SYS_GETSID, []uintptr{uintptr(OwnPID)}, unix.EPERM},
		{"getsid", unix.SYS_GETSID, []uintptr{0}, 0},
		{"getsid by number", unix.SYS_GETSID, []uintptr{self}, 0},
		{"getpgid of the parent", unix.SYS_GETPGID, []uintptr{parent}, unix.EPERM},
		{"getpgid by number", unix.SYS_GETPGID, []uintptr{self}, 0},
		{"cores of the parent", unix.SYS_SCHED_GETAFFINITY, []uintptr{parent, 0, 0}, unix.EPERM},
		{"cores of itself", unix.SYS_SCHED_GETAFFINITY, []uintptr{0, 0, 0}, unix.EINVAL},
		{"cores by number", unix.SYS_SCHED_GETAFFINITY, []uintptr{self, 0, 0}, unix.EINVAL},
		{"kill parent", unix.SYS_KILL, []uintptr{parent, 0}, unix.EPERM},
		{"kill all", unix.SYS_KILL, []uintptr{bad, 0}, unix.EPERM},
		{"kill group", unix.SYS_KILL, []uintptr{0, 0}, unix.EPERM},
		{"kill self", unix.SYS_KILL, []uintptr{self, 0}, 0},
		{"tgkill self", unix.SYS_TGKILL, []uintptr{self, uintptr(unix.Gettid()), 0}, 0},
	} {
		p.check(t)
	}
}

// TestCoreLimit reads what the helper stage leaves, also where an ordinary user
// finds a limit that it cannot raise.
func TestCoreLimit(t *testing.T) {
	if inChild(t) == "" {
		return
	}
	var found unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &found); err != nil || found.Max == 0 {
		t.Skipf("NOT TESTED: the limit is 0 already (%v)", err)
	}
	ordinary := stage{UID: 64821, GID: 64821}
	if os.Getuid() != 0 {
		ordinary = stage{}
	}
	for _, step := range []struct {
		name string
		do   func() error
		want unix.Rlimit
	}{
		{"as it is", func() error { return nil }, unix.Rlimit{Cur: 1, Max: 1}},
		{"another user's", ordinary.dropIdentity, unix.Rlimit{Cur: 1, Max: 1}},
		{"none", func() error { return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }, unix.Rlimit{}},
	} {
		var got unix.Rlimit
		err := errors.Join(step.do(), limitCore(), unix.Getrlimit(unix.RLIMIT_CORE, &got))
		if err != nil || got != step.want {
			t.Errorf("%s: %v, %v; want %v", step.name, got, err, step.want)
		}
	}
}

// TestForeignEntriesDieOnThisKernel goes in by the doors beside the table.
func TestForeignEntriesDieOnThisKernel(t *testing.T) {
	for name, enter := range map[string]func(){
		"x32":  func() { try(x32Bit | 39) }, // getpid, had the kernel x32
		"i386": enterI386,
	} {
		t.Run(name, func(t *testing.T) {
			needSeccomp(t)
			if os.Getenv(childEnv) == t.Name() {
				runtime.LockOSThread()
				_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
				program, err := TemplateFilter()
				install(t, program, err)
				enter()
				return
			}
			if name == "i386" && runtime.GOARCH != "amd64" {
				t.Skip("only x86-64 has this entry")
			}
			wantSIGSYS(t, childOf(t).Run())
		})
	}
}

func wantSIGSYS(t *testing.T, err error) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("the child lived: %v", err)
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signal() != unix.SIGSYS {
		t.Fatalf("the child ended with %v, want SIGSYS", exit)
	}
}

// enterI386 runs mov eax, 20 (getpid of i386); int 0x80; ret.
func enterI386() {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(),
		unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return
	}
	copy(page, []byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3})
	code := unsafe.Pointer(&page[0])
	entry := unsafe.Pointer(&code)
	(*(*func())(unsafe.Pointer(&entry)))()
}
