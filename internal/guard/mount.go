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

// MountAttr is what a process needs from its start to build a file wall of
// mounts: a mount namespace and, when it may not make one, a user namespace
// around it in which it may (user_namespaces(7)).
func MountAttr(attr syscall.SysProcAttr) *syscall.SysProcAttr {
	attr.Cloneflags |= unix.CLONE_NEWNS
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // survives the exec; given up before Python's
	}
	return &attr
}

// StartMapped calls start, which starts a process with MountAttr. The maps of a
// new user namespace can be written only for a process that is dumpable, as the
// one that started it must then be (user_namespaces(7); prctl(2),
// PR_SET_DUMPABLE): it is for that moment.
func StartMapped(start func() error) error {
	was, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil || was == 1 || os.Geteuid() == 0 {
		return start()
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		return err
	}
	return errors.Join(start(), unix.Prctl(unix.PR_SET_DUMPABLE, uintptr(was), 0, 0, 0))
}

// probeMount builds a small wall in a process of its own.
func probeMount() error {
	root, err := os.MkdirTemp("", "cloche-probe-")
	if err != nil {
		return err
	}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{mountName, root}, Env: []string{}, Dir: "/",
		SysProcAttr: MountAttr(syscall.SysProcAttr{Setsid: true}),
	}
	var text []byte
	err = StartMapped(func() (err error) { text, err = cmd.CombinedOutput(); return err })
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
// root, an empty folder, as the new root. The process must have been started
// with MountAttr.
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
	if err := enterRoot(root); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
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
	flags, err := lockedFlags(target)
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

// lockedFlags are the restrictions that a mount has already: inside a user
// namespace a remount that drops one of them is refused (mount_namespaces(7)).
func lockedFlags(path string) (uintptr, error) {
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
