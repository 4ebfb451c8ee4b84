//go:build linux

package guard

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// LandlockRules are the places that a ruleset opens: files, or folders with
// all below them. Each must exist, unless it is listed in Optional too.
type LandlockRules struct {
	Read     []string // to read
	Execute  []string // to read and execute
	Write    []string // to read and write, and in a folder to make, move and remove
	Optional []string // which of the above may be missing
}

// grant is one place with the rights of a folder; a file gets its share.
type grant struct {
	path     string
	rights   uint64
	optional bool
}

// ErrNoLandlock means that the plan is for a kernel without Landlock.
var ErrNoLandlock = errors.New("landlock is not available")

// LandlockABI asks the kernel for its Landlock version; 0 means that it has
// none, that it is switched off, or that something refuses the question
// (landlock_create_ruleset(2), LANDLOCK_CREATE_RULESET_VERSION).
func LandlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

// Restrict confines the current thread, and what it executes, to the rules.
// The caller holds the thread with runtime.LockOSThread and goes on to exec:
// other threads of the process stay free. It sets PR_SET_NO_NEW_PRIVS, which
// cannot be undone, and on any error the process must not go on.
func (p LandlockPlan) Restrict(rules LandlockRules) error {
	if p.ABI < 1 {
		return ErrNoLandlock
	}
	ruleset, err := p.create()
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(ruleset) }()
	for _, g := range p.grants(rules) {
		if err := g.add(ruleset); err != nil {
			return fmt.Errorf("landlock rule for %q: %w", g.path, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return fmt.Errorf("landlock restrict self: %w", errno)
	}
	return nil
}

func (p LandlockPlan) create() (int, error) {
	attr := unix.LandlockRulesetAttr{
		Handled_access_fs:  p.HandledFS,
		Handled_access_net: p.HandledNet,
		Scoped:             p.Scoped,
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attr)), uintptr(p.AttrSize), 0)
	if errno != 0 {
		return -1, fmt.Errorf("landlock ruleset, ABI %d: %w", p.ABI, errno)
	}
	return int(fd), nil
}

// grants is the pure part: rules in the terms of this plan.
func (p LandlockPlan) grants(rules LandlockRules) []grant {
	var out []grant
	for _, kind := range []struct {
		paths  []string
		rights uint64
	}{{rules.Read, p.ReadTree}, {rules.Execute, p.ExecTree}, {rules.Write, p.WriteTree}} {
		for _, path := range kind.paths {
			out = append(out, grant{path, kind.rights, slices.Contains(rules.Optional, path)})
		}
	}
	return out
}

func (g grant) add(ruleset int) error {
	fd, err := unix.Open(g.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if g.optional && errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: g.rights, Parent_fd: int32(fd)}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rule.Allowed_access &= fileRights
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset),
		unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Interpreter names the loader that the kernel runs for a dynamic program;
// executing the program needs Execute on both. It is empty for a static one
// (execve(2), "ELF"; elf(5), PT_INTERP).
func Interpreter(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", fmt.Errorf("read program %q: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	for _, segment := range f.Progs {
		if segment.Type == elf.PT_INTERP {
			name, err := io.ReadAll(io.LimitReader(segment.Open(), unix.PathMax))
			return strings.TrimRight(string(name), "\x00"), err
		}
	}
	return "", nil
}
