package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// basePrefix names the folders that hold the runs' folders, one for each server.
const basePrefix = "cloche-"

// openBase makes a new work base in parent and locks it. Bases that a killed
// server left behind have no lock any more and are removed.
func openBase(parent string) (string, *os.File, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeStaleBases(parent)
	// The guard compares paths as text, so this one must have no link in it.
	parent, err := filepath.EvalSymlinks(parent)
	if err == nil {
		parent, err = filepath.Abs(parent)
	}
	if err != nil {
		return "", nil, fmt.Errorf("find folder for work base: %w", err)
	}
	base := filepath.Join(parent, basePrefix+rand.Text()[:12])
	lock, err := makeBase(base)
	if err != nil {
		return "", nil, fmt.Errorf("make work base: %w (name another folder with --work)", err)
	}
	return base, lock, nil
}

// makeBase makes the folder, with the point for a wall of mounts, and locks it.
func makeBase(base string) (*os.File, error) {
	if err := os.Mkdir(base, 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(mountRoot(base), 0o755); err != nil {
		return nil, err
	}
	lock, err := lockBase(base)
	if err != nil {
		return nil, err
	}
	return lock, os.Chmod(base, baseMode)
}

// mountRoot is where the template builds a wall of mounts. The mount itself is
// in the template's namespace only.
func mountRoot(base string) string { return filepath.Join(base, "root") }

// baseMode lets nobody list the runs' folders, not even the user that owns them.
const baseMode = 0o311

// lockBase takes the lock that says that a base has a living server. The file
// lies inside, where it can be opened without the right to list the base.
func lockBase(base string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(base, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// youngBase is how long a base has to get its lock.
const youngBase = 10 * time.Second

func removeStaleBases(parent string) {
	bases, _ := filepath.Glob(filepath.Join(parent, basePrefix+"*"))
	for _, base := range bases {
		var st unix.Stat_t
		if unix.Lstat(base, &st) != nil || int(st.Uid) != os.Geteuid() || st.Mode&unix.S_IFMT != unix.S_IFDIR {
			continue
		}
		if time.Since(time.Unix(st.Ctim.Unix())) < youngBase {
			continue // its server may not have locked it yet
		}
		lock, err := lockBase(base)
		if err != nil {
			continue // in use
		}
		_ = removeTree(base)
		_ = lock.Close()
	}
}

// broom cleans up behind runs, in the background.
type broom struct {
	log   *slog.Logger
	tasks sync.WaitGroup
	heavy sync.Mutex // large folders are removed one at a time
}

func newBroom(log *slog.Logger) *broom { return &broom{log: log} }

// sweep runs task in the background.
func (b *broom) sweep(task func()) { b.tasks.Go(task) }

// wait returns when every task is done.
func (b *broom) wait() { b.tasks.Wait() }

// remove deletes a run's folder.
func (b *broom) remove(dir string) {
	if dir == "" {
		return
	}
	b.heavy.Lock()
	defer b.heavy.Unlock()
	if err := removeTree(dir); err != nil {
		b.log.Error("remove run folder", "error", err.Error())
	}
}

// removeTree deletes a folder of any depth with two descriptors: a folder inside
// is first moved up beside its parent, so no path and no chain of descriptors
// grows with the depth (os.RemoveAll holds one descriptor for each level).
func removeTree(root string) error {
	pit := root + ".pit"
	if err := os.Mkdir(pit, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	todo, moved := []string{root}, 0
	for len(todo) > 0 {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		inside, err := emptyFolder(dir, func(name string) (string, error) {
			moved++
			to := filepath.Join(pit, strconv.Itoa(moved))
			return to, os.Rename(filepath.Join(dir, name), to)
		})
		if err != nil {
			return err
		}
		todo = append(todo, inside...)
	}
	return os.Remove(pit)
}

// emptyFolder deletes dir after it has deleted its files and moved its folders
// away; it returns where they are now.
func emptyFolder(dir string, move func(name string) (string, error)) ([]string, error) {
	if err := os.Chmod(dir, 0o700); err != nil { // the child may have taken our rights
		return nil, err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	var inside []string
	for {
		names, _ := folder.Readdirnames(1024)
		if len(names) == 0 {
			return inside, os.Remove(dir)
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			err := unix.Unlink(path)
			if err == unix.EISDIR || err == unix.EPERM {
				_ = os.Chmod(path, 0o700) // a folder can be moved only by who may write it
				var to string
				if to, err = move(name); err == nil {
					inside = append(inside, to)
				}
			}
			if err != nil && err != unix.ENOENT {
				return inside, err
			}
		}
	}
}
