package guard

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// stageName is argv[0] of a process that Main must turn into a template.
const stageName = "cloche-template"

// Argv is the command line that makes Main run the helper stage.
func Argv() []string { return []string{stageName} }

// Main must be the first call of every main and TestMain of a binary that holds
// a sandbox. In an ordinary process it returns at once. In a process that was
// started for the helper stage or for a probe it does that and never returns:
// the helper stage drops every privilege and execs Python, and names what failed
// on the control channel.
func Main() {
	runtime.LockOSThread() // every step holds for this thread, which execs
	switch {
	case len(os.Args) == 1 && os.Args[0] == stageName:
		message, _ := json.Marshal(map[string]string{"failed": becomeTemplate().Error()})
		_, _ = unix.Write(controlFD, message)
		os.Exit(exitSoftware)
	case len(os.Args) == 3 && os.Args[0] == probeName:
		exitWith(probeSelf(os.Args[1:]))
	case len(os.Args) == 3 && os.Args[0] == killerName:
		exitWith(killAll(os.Args[1:]))
	case len(os.Args) == 2 && os.Args[0] == mountName:
		exitWith(restrictMounts(os.Args[1], LandlockRules{Read: []string{"/usr"}}))
	}
	runtime.UnlockOSThread()
}

const exitSoftware = 70 // EX_SOFTWARE, sysexits.h

// exitWith ends a probe at once: what os.Exit does besides is for whole programs,
// such as the second that the race detector sleeps.
func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		unix.Exit(exitSoftware)
	}
	unix.Exit(0)
}

// becomeTemplate returns only when a step failed.
func becomeTemplate() error {
	s, err := readStage()
	if err != nil {
		return err
	}
	unix.Umask(0o077)
	steps := []struct {
		name string
		do   func() error
	}{
		{"oom score", raiseOOMScore},
		{"stack limit", limitStack},
		{"core limit", limitCore},
		{"mount wall", s.restrictMounts},
		{"drop identity", s.dropIdentity},
		{"death signal", s.dieWithParent},
		{"no new privileges", s.noNewPrivileges},
		{"landlock", s.restrictFiles},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return fmt.Errorf("exec %s: %w", s.Argv[0], syscall.Exec(s.Argv[0], s.Argv, s.Env))
}

// readStage reads exactly the helper's part of the pipe; the rest is Python's.
func readStage() (stage, error) {
	var s stage
	var size [4]byte
	pipe := fdReader(bootFD)
	if _, err := io.ReadFull(pipe, size[:]); err != nil {
		return s, fmt.Errorf("read stage size: %w", err)
	}
	text := make([]byte, min(binary.BigEndian.Uint32(size[:]), 1<<20))
	if _, err := io.ReadFull(pipe, text); err != nil {
		return s, fmt.Errorf("read stage: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("decode stage: %w", err)
	}
	return s, nil
}

// fdReader reads a descriptor without taking it over: it must survive exec.
type fdReader int

func (fd fdReader) Read(p []byte) (int, error) {
	n, err := unix.Read(int(fd), p)
	if n == 0 && err == nil {
		return 0, io.EOF
	}
	return max(n, 0), err
}

// raiseOOMScore makes the kernel choose a snippet first when memory runs out.
// Raising one's own score needs no privilege (proc(5)); a missing /proc is no fault.
func raiseOOMScore() error {
	err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if os.IsNotExist(err) || os.IsPermission(err) {
		return nil
	}
	return err
}

// limitCore keeps a crash from leaving anything, with a limit of 1 and not of 0.
// Where core_pattern names a program, 0 does not count: the kernel would start it,
// as root and outside of all walls, and hand it the run's memory (core(5)); 1 is
// the one value that keeps it from that (fs/coredump.c: "RLIMIT_CORE is set to 1,
// aborting core"). A file is written from one page up (min_coredump there), so
// neither makes one. Where the limit is 0 already only root can raise it: then an
// ordinary user's crashes go on as all others of that user do. No limit keeps the
// kernel from a core_pattern that is a socket (Linux 6.16).
func limitCore() error {
	err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1, Max: 1})
	if err == unix.EPERM {
		return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	}
	return err
}

// limitStack gives Python's main thread the stack that its recursion limit was
// measured with, whatever the parent's limit is.
func limitStack() error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_STACK, &now); err != nil {
		return err
	}
	now.Cur = min(8<<20, now.Max)
	return unix.Setrlimit(unix.RLIMIT_STACK, &now)
}

// dropIdentity gives up root for good, on this thread only: Go's own wrappers
// would stop every thread, and only this one execs.
func (s stage) dropIdentity() error {
	if s.UID == 0 {
		return nil
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); e != 0 {
		return fmt.Errorf("setgroups: %w", e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(s.GID), uintptr(s.GID), uintptr(s.GID)); e != 0 {
		return fmt.Errorf("setresgid: %w", e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(s.UID), uintptr(s.UID), uintptr(s.UID)); e != 0 {
		return fmt.Errorf("setresuid: %w", e)
	}
	return nil
}

// dieWithParent asks for the death signal again, since setresuid cleared it
// (prctl(2)), and checks that the parent has not died in between.
func (s stage) dieWithParent() error {
	if !s.Prctl {
		return nil // the template ends when its control channel does
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if unix.Getppid() != s.Parent {
		return unix.ESRCH
	}
	return nil
}

func (s stage) noNewPrivileges() error {
	if !s.Prctl {
		return nil
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

func (s stage) restrictMounts() error {
	if s.MountRoot == "" {
		return nil
	}
	return restrictMounts(s.MountRoot, s.Rules)
}

func (s stage) restrictFiles() error {
	if s.Landlock == nil {
		return nil
	}
	return s.Landlock.Restrict(s.Rules)
}
