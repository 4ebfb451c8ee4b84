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
	wall, err := p.Wall(rules)
	if err != nil {
		return err
	}
	defer wall.Close()
	ruleset, err := wall.Ruleset()
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(ruleset) }()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return fmt.Errorf("landlock restrict self: %w", errno)
	}
	return nil
}

// Wall is what many rulesets have in common, looked up once. It may be used by
// several goroutines until it is closed.
type Wall struct {
	plan   LandlockPlan
	grants []grant
}

// grant is one place that is open to look at (O_PATH), and the rights there.
type grant struct {
	fd     int
	rights uint64
}

// Wall opens the places of the rules. An error names the one that it is about.
func (p LandlockPlan) Wall(rules LandlockRules) (*Wall, error) {
	if p.ABI < 1 {
		return nil, ErrNoLandlock
	}
	w := &Wall{plan: p}
	for _, kind := range []struct {
		paths      []string
		tree, file uint64
	}{{rules.Read, p.ReadTree, p.ReadFile}, {rules.Execute, p.ExecTree, p.ExecFile}, {rules.Write, p.WriteTree, p.WriteFile}} {
		for _, path := range kind.paths {
			err := w.grant(path, kind.tree, kind.file)
			if errors.Is(err, unix.ENOENT) && slices.Contains(rules.Optional, path) {
				continue
			}
			if err != nil {
				w.Close()
				return nil, fmt.Errorf("landlock rule for %q: %w", path, err)
			}
		}
	}
	return w, nil
}

// grant opens a place, with the rights of a folder or those of anything else.
func (w *Wall) grant(path string, tree, file uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	w.grants = append(w.grants, grant{fd, tree})
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		w.grants[len(w.grants)-1].rights = file
	}
	return nil
}

// Close forgets the places; rulesets that were made hold on.
func (w *Wall) Close() {
	for _, g := range w.grants {
		_ = unix.Close(g.fd)
	}
	w.grants = nil
}

// Ruleset returns the descriptor of a new ruleset for landlock_restrict_self(2):
// the wall's places, and folders that can be written.
func (w *Wall) Ruleset(folders ...string) (int, error) {
	own := &Wall{plan: w.plan}
	defer own.Close()
	for _, path := range folders {
		if err := own.grant(path, w.plan.WriteTree, w.plan.WriteFile); err != nil {
			return -1, fmt.Errorf("landlock rule for %q: %w", path, err)
		}
	}
	ruleset, err := w.plan.create()
	if err != nil {
		return -1, err
	}
	for _, g := range slices.Concat(w.grants, own.grants) {
		if err := g.add(ruleset); err != nil {
			return -1, errors.Join(fmt.Errorf("landlock rule: %w", err), unix.Close(ruleset))
		}
	}
	return ruleset, nil
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

func (g grant) add(ruleset int) error {
	rule := unix.LandlockPathBeneathAttr{Allowed_access: g.rights, Parent_fd: int32(g.fd)}
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
