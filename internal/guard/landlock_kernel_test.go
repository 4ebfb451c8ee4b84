//go:build linux

package guard

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// needLandlock returns the kernel's ABI, and skips only below the least one.
func needLandlock(t *testing.T, least int) int {
	t.Helper()
	abi := LandlockABI()
	if abi < least {
		t.Skipf("NOT TESTED: this kernel has Landlock ABI %d, the test needs %d", abi, least)
	}
	return abi
}

// TestWallOnThisKernel builds the wall with the rights of old kernels too: a
// newer kernel accepts and enforces any older ABI.
func TestWallOnThisKernel(t *testing.T) {
	for _, abi := range []int{1, 2, 3, 4, 5, 6, LandlockABI()} {
		t.Run(fmt.Sprintf("ABI%d", abi), func(t *testing.T) {
			needLandlock(t, max(abi, 1))
			if folder := inChild(t); folder != "" {
				checkWall(t, newPlace(t, folder), abi)
			}
		})
	}
}

// place is the scene: a library to read, two folders to write, and the rest.
type place struct{ lib, work, tmp, out string }

func newPlace(t *testing.T, base string) place {
	t.Helper()
	p := place{base + "/lib", base + "/work", base + "/tmp", base + "/out"}
	for _, dir := range []string{p.lib, p.work, p.tmp, p.out, p.work + "/sub"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{p.lib + "/file", p.out + "/file", p.work + "/file", p.work + "/file2"} {
		if err := os.WriteFile(file, []byte("full"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// expect tells whether an act ended as it should; a nil want is success.
func expect(t *testing.T, act string, got, want error) {
	t.Helper()
	if want == nil && got != nil || want != nil && !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", act, got, want)
	}
}

// from picks the answer that starts with an ABI.
func from(abi, first int, then, before error) error {
	if abi >= first {
		return then
	}
	return before
}

func checkWall(t *testing.T, p place, abi int) {
	program, rules := runnable(t)
	rules.Read = append(rules.Read, p.lib)
	rules.Write = []string{p.work, p.tmp, "/dev/null", p.out + "/gone"}
	rules.Optional = append(rules.Optional, p.out+"/gone")
	copied := copyProgram(t, program, p.work+"/program")
	if err := PlanLandlock(abi).Restrict(rules); err != nil {
		t.Fatal(err)
	}
	checkOutside(t, p, abi)
	checkInside(t, p, abi)
	if program != "" {
		expect(t, "run a granted program", exec.Command(program).Run(), nil)
		expect(t, "run a written program", exec.Command(copied).Run(), unix.EACCES)
	}
	checkTruncation(t, p, abi)
}

func checkOutside(t *testing.T, p place, abi int) {
	read := func(path string) error { _, err := os.ReadFile(path); return err }
	write := func(path string) error { return os.WriteFile(path, []byte("new"), 0o600) }
	list := func(path string) error { _, err := os.ReadDir(path); return err }
	expect(t, "read outside", read(p.out+"/file"), unix.EACCES)
	expect(t, "list outside", list(p.out), unix.EACCES)
	expect(t, "read /etc/passwd", read("/etc/passwd"), unix.EACCES)
	expect(t, "write outside", write(p.out+"/file"), unix.EACCES)
	expect(t, "create outside", write(p.out+"/new"), unix.EACCES)
	expect(t, "mkdir outside", os.Mkdir(p.out+"/dir", 0o700), unix.EACCES)
	expect(t, "remove outside", os.Remove(p.out+"/file"), unix.EACCES)
	expect(t, "read the library", read(p.lib+"/file"), nil)
	expect(t, "list the library", list(p.lib), nil)
	expect(t, "write the library", write(p.lib+"/file"), unix.EACCES)
	expect(t, "create in the library", write(p.lib+"/new"), unix.EACCES)
	expect(t, "write /dev/null", write("/dev/null"), nil)
	expect(t, "signal outside", unix.Kill(os.Getppid(), 0), from(abi, 6, unix.EPERM, nil))
	expect(t, "connect", connect(), from(abi, 4, unix.EACCES, unix.ECONNREFUSED))
}

func checkInside(t *testing.T, p place, abi int) {
	expect(t, "write inside", os.WriteFile(p.work+"/a", []byte("a"), 0o600), nil)
	expect(t, "shorten inside", os.Truncate(p.work+"/a", 0), nil)
	expect(t, "mkdir inside", os.Mkdir(p.work+"/dir", 0o700), nil)
	expect(t, "rename", os.Rename(p.work+"/a", p.work+"/b"), nil)
	expect(t, "rename into a folder", os.Rename(p.work+"/b", p.work+"/dir/b"), from(abi, 2, nil, unix.EXDEV))
	expect(t, "rename from work to tmp", os.Rename(p.work+"/file", p.tmp+"/file"), from(abi, 2, nil, unix.EXDEV))
	if err := os.Rename(p.work+"/file2", p.out+"/file2"); !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EXDEV) {
		t.Errorf("rename to outside: %v", err) // which of the two depends on the kernel
	}
	expect(t, "symlink", os.Symlink("/etc", p.work+"/link"), unix.EACCES)
	expect(t, "fifo", unix.Mkfifo(p.work+"/fifo", 0o600), unix.EACCES)
	expect(t, "socket", bindUnix(p.work+"/s"), unix.EACCES)
	expect(t, "remove", os.RemoveAll(p.work+"/dir"), nil)
}

// checkTruncation shows the hole of ABI 1 and 2 on a file that no later check
// needs, and that the filter closes it.
func checkTruncation(t *testing.T, p place, abi int) {
	expect(t, "truncate outside", unix.Truncate(p.out+"/file", 2), from(abi, 3, unix.EACCES, nil))
	var e unix.Errno
	if e = try(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, 0); e == unix.ENOSYS {
		t.Log("NOT TESTED: the filter's part, this kernel has no seccomp")
		return
	}
	program, err := TemplateFilter()
	install(t, program, err)
	expect(t, "truncate outside, filtered", unix.Truncate(p.out+"/file", 0), unix.EPERM)
	_, err = unix.Open(p.lib+"/file", unix.O_RDONLY|unix.O_TRUNC, 0)
	expect(t, "truncating read, filtered", err, unix.EPERM)
	if st, err := os.Stat(p.lib + "/file"); err != nil || st.Size() != 4 {
		t.Errorf("the library changed: %v, %v", st, err)
	}
}

// runnable finds a program and all that it takes to run it.
func runnable(t *testing.T) (string, LandlockRules) {
	t.Helper()
	program, err := exec.LookPath("true")
	if err != nil {
		t.Logf("NOT TESTED: execution, no program: %v", err)
		return "", LandlockRules{}
	}
	rules := LandlockRules{
		Execute:  []string{program},
		Read:     []string{"/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache"},
		Optional: []string{"/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache"},
	}
	if loader, err := Interpreter(program); err != nil {
		t.Fatal(err)
	} else if loader != "" {
		rules.Execute = append(rules.Execute, loader)
	}
	return program, rules
}

func copyProgram(t *testing.T, from, to string) string {
	t.Helper()
	if from == "" {
		return ""
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Clean(to)
}

// connect tries a port of this machine that nobody listens on.
func connect() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Connect(fd, &unix.SockaddrInet4{Port: 1, Addr: [4]byte{127, 0, 0, 1}})
}

func bindUnix(path string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Bind(fd, &unix.SockaddrUnix{Name: path})
}
