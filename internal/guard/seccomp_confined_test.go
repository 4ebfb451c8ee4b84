//go:build linux

package guard

import (
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// How a test tells its child which test it is, and where its files are: the
// parent makes and removes the folder, since the child may not be able to.
const (
	childEnv  = "CLOCHE_GUARD_TEST_CHILD"
	folderEnv = "CLOCHE_GUARD_TEST_FOLDER"
)

// inChild returns a folder in a process that may restrict itself. In the
// ordinary test process it runs the same test again in a child, hands its
// failure on, and returns nothing; confinement cannot be undone, so no other
// test may share the process.
func inChild(t *testing.T) string {
	t.Helper()
	if os.Getenv(childEnv) == t.Name() {
		runtime.LockOSThread()
		return os.Getenv(folderEnv)
	}
	if out, err := childOf(t).CombinedOutput(); err != nil {
		t.Fatalf("confined child: %v\n%s", err, out)
	}
	return ""
}

func childOf(t *testing.T) *exec.Cmd {
	pattern := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.Command(os.Args[0], "-test.run="+pattern)
	cmd.Env = append(os.Environ(), childEnv+"="+t.Name(), folderEnv+"="+t.TempDir())
	return cmd
}

// needSeccomp skips only if the kernel says that it has no filters.
func needSeccomp(t *testing.T) {
	t.Helper()
	action := uint32(unix.SECCOMP_RET_KILL_PROCESS)
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if e != 0 {
		t.Skipf("NOT TESTED: this kernel refuses seccomp filters: %v", e)
	}
}

// install puts a program on the current thread alone.
func install(t *testing.T, program []byte, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	fprog := unix.SockFprog{
		Len:    uint16(len(program) / unix.SizeofSockFilter),
		Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0])),
	}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, SpecAllow, uintptr(unsafe.Pointer(&fprog)))
	if e != 0 {
		t.Fatalf("install filter: %v", e)
	}
}

// try makes a raw call on this thread. Pointers in args come from text, since
// a plain one may move on its way here.
func try(number uintptr, args ...uintptr) unix.Errno {
	var all [6]uintptr
	copy(all[:], args)
	_, _, e := unix.RawSyscall6(number, all[0], all[1], all[2], all[3], all[4], all[5])
	return e
}

func text(s string) uintptr {
	p, _ := unix.BytePtrFromString(s)
	kept = append(kept, p)
	return uintptr(unsafe.Pointer(p))
}

// words is the address of two numbers.
func words(first, second uint64) uintptr {
	b := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, first), second)
	kept = append(kept, &b[0])
	return uintptr(unsafe.Pointer(&b[0]))
}

var kept []*byte // what text and words made, for the life of the process

// bad is a descriptor that no process has: a call that a filter lets through
// answers EBADF.
const bad = ^uintptr(0)

type probe struct {
	name   string
	number uintptr
	args   []uintptr
	want   unix.Errno
}

func (p probe) check(t *testing.T) {
	t.Helper()
	if got := try(p.number, p.args...); got != p.want {
		t.Errorf("%s: %q, want %q", p.name, got, p.want)
	}
}
