package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
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
	removeStaleBases(parent, youngBase)
	// The guard compares paths as text, so this one must have no link in it.
	real, err := filepath.EvalSymlinks(parent)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("the folder for work folders, %s, is not there; make it or name another with --work", parent)
	}
	if err != nil {
		return "", nil, fmt.Errorf("find folder for work folders: %w", err)
	}
	base := filepath.Join(real, basePrefix+rand.Text()[:12])
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
	lock, err := lockBase(base, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	return lock, os.Chmod(base, baseMode)
}

// mountRoot is where the template builds a wall of mounts. The mount itself is
// in the template's namespace only.
func mountRoot(base string) string { return filepath.Join(base, "root") }

// removeBase deletes a base with everything in it: first what runs left, so that
// nothing of it is ever moved out of the base.
func removeBase(base string) error {
	if err := os.Chmod(base, 0o700); err != nil {
		return err
	}
	runs, err := filepath.Glob(filepath.Join(base, "*-*"))
	if err != nil {
		return err
	}
	_, err = removeTrees(runs)
	return errors.Join(err, os.RemoveAll(base))
}

// baseMode lets nobody list the runs' folders, not even the user that owns them.
const baseMode = 0o311

// lockBase takes the lock that says that a base has a living server. The file
// lies inside, where it can be opened without the right to list the base.
func lockBase(base string, flags int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(base, "lock"), flags|os.O_RDWR, 0o600)
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

func removeStaleBases(parent string, young time.Duration) {
	bases, _ := filepath.Glob(filepath.Join(parent, basePrefix+"*"))
	for _, base := range bases {
		var st unix.Stat_t
		if unix.Lstat(base, &st) != nil || int(st.Uid) != os.Geteuid() || st.Mode&unix.S_IFMT != unix.S_IFDIR {
			continue
		}
		if time.Since(time.Unix(st.Ctim.Unix())) < young {
			continue // its server may not have locked it yet
		}
		lock, err := lockBase(base, 0)
		if err != nil {
			continue // in use, or not a base at all
		}
		_ = removeBase(base)
		_ = lock.Close()
	}
}

// broom cleans up behind runs, in the background.
type broom struct {
	log   *slog.Logger
	tasks sync.WaitGroup

	heavy sync.Mutex  // folders are removed one at a time
	left  []string    // folders that could not be removed yet
	retry *time.Timer // tries those again; nil before the first
}

// retryRest is the time until folders that could not be removed are tried again.
const retryRest = time.Second

func newBroom(log *slog.Logger) *broom { return &broom{log: log} }

// sweep runs task in the background.
func (b *broom) sweep(task func()) { b.tasks.Go(task) }

// wait returns when every task is done. What is left then goes with the base.
func (b *broom) wait() {
	b.tasks.Wait()
	b.heavy.Lock()
	defer b.heavy.Unlock()
	if b.left = nil; b.retry != nil {
		b.retry.Stop()
	}
}

// remove deletes a run's folder. What cannot be deleted is tried again: a machine
// without a descriptor or an inode left gets some back.
func (b *broom) remove(dir string) {
	if dir == "" {
		return
	}
	b.heavy.Lock()
	defer b.heavy.Unlock()
	b.removeAll(append(b.left, dir))
}

func (b *broom) removeAll(dirs []string) {
	before := len(b.left)
	left, err := removeTrees(dirs)
	if b.left = left; err == nil {
		return
	}
	if len(left) > before { // the same one is complained of once
		b.log.Error("remove run folder", "error", err.Error())
	}
	if b.retry != nil {
		b.retry.Stop()
	}
	b.retry = time.AfterFunc(retryRest, func() {
		b.heavy.Lock()
		defer b.heavy.Unlock()
		if len(b.left) > 0 {
			b.removeAll(b.left)
		}
	})
}

// removeTrees deletes folders of any depth with one descriptor: a folder inside
// is first moved up beside the one it is in, so no path and no chain of
// descriptors grows with the depth (os.RemoveAll holds one descriptor for each
// level). It goes on after an error, and returns what is left then. What is gone
// already is no error.
func removeTrees(todo []string) (left []string, err error) {
	for len(todo) > 0 {
		dir := todo[len(todo)-1]
		inside, fault := emptyFolder(dir)
		todo = append(todo[:len(todo)-1], inside...)
		if fault != nil && !errors.Is(fault, fs.ErrNotExist) {
			left, err = append(left, dir), errors.Join(err, fault)
		}
	}
	return left, err
}

// emptyFolder deletes dir after it has deleted its files and moved its folders
// away; it returns where they are now.
func emptyFolder(dir string) (moved []string, err error) {
	if err := os.Chmod(dir, 0o700); err != nil { // the child may have taken our rights
		return nil, err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	for {
		names, _ := folder.Readdirnames(1024)
		if len(names) == 0 {
			return moved, os.Remove(dir)
		}
		for _, name := range names {
			to, err := removeEntry(dir, name)
			if err != nil {
				return moved, err
			}
			if to != "" {
				moved = append(moved, to)
			}
		}
	}
}

// removeEntry deletes a file, or moves a folder beside dir and returns its new
// place. The name is one that a later server finds if this one is killed.
func removeEntry(dir, name string) (moved string, err error) {
	path := filepath.Join(dir, name)
	err = unix.Unlink(path)
	if err != unix.EISDIR && err != unix.EPERM {
		if err == unix.ENOENT {
			err = nil
		}
		return "", err
	}
	if unix.Rmdir(path) == nil { // most folders that are made to be many are empty
		return "", nil
	}
	if err := os.Chmod(path, 0o700); err != nil { // a folder can be moved only by who may write it
		return "", err
	}
	moved = filepath.Join(filepath.Dir(dir), basePrefix+"old-"+rand.Text())
	return moved, os.Rename(path, moved)
}
