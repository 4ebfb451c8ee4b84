package guard

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// mountName is argv[0] of a process that Main must turn into a probe of mounts.
const mountName = "cloche-mount"

// errOnlyRoot is why an ordinary user's server has no wall of mounts: its runs
// are the same user, to whom the folder of all runs' folders belongs.
var errOnlyRoot = errors.New("only root can wall runs off with mounts")

// probeMount builds a small wall in a process of its own.
func probeMount() error {
	if os.Geteuid() != 0 {
		return errOnlyRoot
	}
	root, err := os.MkdirTemp("", "cloche-probe-")
	if err != nil {
		return err
	}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{mountName, root}, Env: []string{}, Dir: "/",
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWNS},
	}
	text, err := cmd.CombinedOutput()
	if len(text) > 0 {
		err = errors.New(strings.TrimSpace(string(text)))
	}
	return errors.Join(err, os.Remove(root))
}

// mountTree is one place that a wall of mounts shows.
type mountTree struct {
	path     string
	writable bool
}

// mountTrees lists the places of rules from the outside in, each once. A place
// inside another is shown by it, unless it is the only writable one.
func mountTrees(rules LandlockRules) []mountTree {
	var all []mountTree
	for _, path := range slices.Concat(rules.Execute, rules.Read) {
		all = append(all, mountTree{filepath.Clean(path), false})
	}
	for _, path := range rules.Write {
		all = append(all, mountTree{filepath.Clean(path), true})
	}
	slices.SortStableFunc(all, func(a, b mountTree) int { return strings.Compare(a.path, b.path) })
	var shown []mountTree
	for _, t := range all {
		inside := slices.ContainsFunc(shown, func(s mountTree) bool {
			return (t.path == s.path || strings.HasPrefix(t.path, s.path+"/")) && (s.writable || !t.writable)
		})
		if !inside {
			shown = append(shown, t)
		}
	}
	return shown
}

// restrictMounts makes the places of rules all that the process can name, with
// root, an empty folder, as the new root. The process must have a mount
// namespace of its own.
func restrictMounts(root string, rules LandlockRules) error {
	defer unix.Umask(unix.Umask(0o022)) // the snippets' user must be able to pass through
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("cloche", root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,mode=755"); err != nil {
		return fmt.Errorf("mount new root: %w", err)
	}
	for _, t := range mountTrees(rules) {
		if err := t.show(root); err != nil {
			return fmt.Errorf("show %s: %w", t.path, err)
		}
	}
	if err := unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		return fmt.Errorf("make new root read-only: %w", err)
	}
	return enterRoot(root)
}

// enterRoot leaves the old root without a name (pivot_root(2), "pivot_root(".", ".")").
func enterRoot(root string) error {
	if err := unix.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detach old root: %w", err)
	}
	return unix.Chdir("/")
}

// show binds the place into the new root. What is missing on the host is left
// out.
func (t mountTree) show(root string) error {
	var st unix.Stat_t
	err := unix.Stat(t.path, &st)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return err
	}
	target := root + t.path
	if err := makePoint(target, st.Mode&unix.S_IFMT == unix.S_IFDIR); err != nil {
		return err
	}
	if err := unix.Mount(t.path, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	flags, err := heldFlags(target)
	if err != nil {
		return err
	}
	if !t.writable {
		flags |= unix.MS_RDONLY
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR {
		flags |= unix.MS_NODEV
	}
	return unix.Mount("", target, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_NOSUID|flags, "")
}

func makePoint(path string, folder bool) error {
	if folder {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// heldFlags are the restrictions that a mount has already; a remount keeps them.
func heldFlags(path string) (uintptr, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return 0, err
	}
	var flags uintptr
	for _, f := range []struct{ st, ms uintptr }{
		{unix.ST_RDONLY, unix.MS_RDONLY},
		{unix.ST_NODEV, unix.MS_NODEV},
		{unix.ST_NOEXEC, unix.MS_NOEXEC},
		{unix.ST_NOATIME, unix.MS_NOATIME},
		{unix.ST_NODIRATIME, unix.MS_NODIRATIME},
		{unix.ST_RELATIME, unix.MS_RELATIME},
	} {
		if uintptr(fs.Flags)&f.st != 0 {
			flags |= f.ms
		}
	}
	return flags, nil
}
