package sandbox

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/sandbox/workdir"
)

// Bounds on the folders that are kept for another child.
const (
	mostSpare = 64
	spareTime = 200 * time.Millisecond // how long when no run ends
)

// folders are a child's own: one to work in and one for temporary files, below
// one that only the server may change.
type folders struct {
	dir   string
	fresh [3]imprint // of the three when they were made
}

func (f folders) work() string { return filepath.Join(f.dir, "work") }
func (f folders) tmp() string  { return filepath.Join(f.dir, "tmp") }

func (f folders) all() [3]string { return [3]string{f.dir, f.work(), f.tmp()} }

// makeFolders makes the folders of a child below base.
func makeFolders(base string, owner identity) (folders, error) {
	f := folders{dir: secretName(base)}
	if err := os.Mkdir(f.dir, 0o711); err != nil {
		return folders{}, fmt.Errorf("make run folder: %w", err)
	}
	for _, path := range []string{f.work(), f.tmp()} {
		if err := makeFolder(path, owner); err != nil {
			return f, err
		}
	}
	var err error
	f.fresh, err = f.imprints()
	return f, err
}

// secretName is a path that nobody can list (the base is not readable) or guess:
// 128 bits. Where no wall stands between the runs, it is the wall; everywhere it
// keeps stat from them, which Landlock does not.
func secretName(base string) string { return filepath.Join(base, "run-"+rand.Text()) }

// renamed gives the folders another name: the run that had them knows the old one.
func (f folders) renamed(base string) (folders, error) {
	name := secretName(base)
	if err := os.Rename(f.dir, name); err != nil {
		return folders{}, fmt.Errorf("rename run folder: %w", err)
	}
	f.dir = name
	var err error
	f.fresh, err = f.imprints()
	return f, err
}

// makeFolder makes a folder that belongs to the snippets' user.
func makeFolder(path string, owner identity) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	if !owner.drop() {
		return nil
	}
	return os.Lchown(path, owner.uid, owner.gid)
}

// imprint is what of a folder changes when something in it is made, removed or
// renamed, or the folder itself is changed (inode(7)).
type imprint struct {
	inode, links      uint64
	mode, uid, gid    uint32
	size, blocks      int64
	modified, changed unix.Timespec
}

func (f folders) imprints() (seen [3]imprint, err error) {
	for n, path := range f.all() {
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return seen, fmt.Errorf("look at run folder: %w", err)
		}
		seen[n] = imprint{st.Ino, uint64(st.Nlink), st.Mode, st.Uid, st.Gid, st.Size, st.Blocks, st.Mtim, st.Ctim}
	}
	return seen, nil
}

// untouched reports whether the folders are as they were made. Times may be as
// coarse as a tick of the kernel's clock, so it looks inside as well.
func (f folders) untouched() bool {
	seen, err := f.imprints()
	if err != nil || seen != f.fresh {
		return false
	}
	empty, err := workdir.Empty(f.work())
	if empty && err == nil {
		empty, err = workdir.Empty(f.tmp())
	}
	return empty && err == nil
}

// giveFolders returns folders for a new child: some that a run left untouched,
// or else new ones.
func (s *Sandbox) giveFolders() (folders, error) {
	select {
	case f := <-s.spare:
		s.reused.Add(1)
		return f.renamed(s.base)
	default:
		return makeFolders(s.base, s.layers.identity)
	}
}

// takeFolders keeps the folders of a dead child for another if they are
// untouched, and removes them otherwise: to make and remove them costs a tenth
// of a short run. Without Landlock none are used twice: there the name is the wall.
func (s *Sandbox) takeFolders(f folders) {
	if s.layers.wall == wallLandlock && f.dir != "" && f.untouched() {
		select {
		case s.spare <- f:
			s.idle.Reset(spareTime)
			return
		default:
		}
	}
	s.broom.remove(f.dir)
}

// clearSpare removes the folders that no child needed for a while.
func (s *Sandbox) clearSpare() {
	for {
		select {
		case f := <-s.spare:
			s.broom.remove(f.dir)
		default:
			return
		}
	}
}
