//go:build linux

// Package workdir looks at the folders of runs. A snippet may have made there
// what it likes, and may go on while somebody looks: so every walk goes by
// descriptors, follows no link, leaves no trace that the snippet could see, and
// is bounded in depth, entries and time.
package workdir

import (
	"errors"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"cloche/internal/sys"
)

// MaxDepth is how deep folders may be nested, and so how many descriptors a walk
// holds. An input path has at most 16 parts.
const MaxDepth = 64

// usualDepth is what ordinary programs stay within. Deeper walks wait for each
// other, so that all of them together hold few descriptors.
const usualDepth = 16

var deeper = make(chan struct{}, 1)

var buffers = sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }}

// Why a walk ended early. The first two are faults of the snippet.
var (
	ErrDeep      = errors.New("folders are nested too deep")
	ErrMany      = errors.New("there are too many files and folders")
	ErrCancelled = errors.New("the walk was cancelled")
)

// Walk goes through everything below folders. The zero value of each field but
// Entries is usable.
type Walk struct {
	Entries   int                                      // how many there may be; more are ErrMany
	Sizes     bool                                     // whether to add up what they take on the disk, which costs a system call for each
	Cancelled func() bool                              // asked every few entries; nil: never
	Visit     func(path string, entry sys.Entry) error // called for each entry but folders, with its path below its root; nil: nothing
	found     Sum
	buf       []byte // what was read of a folder; all that is needed of it is taken before the walk goes deeper
	since     int    // entries since Cancelled was asked
	deep      bool
}

// Sum is what a walk found.
type Sum struct {
	Entries int
	Bytes   int64 // on the disk (st_blocks), folders included; only with Sizes
}

// Of walks below each of the folders. A folder that is gone holds nothing; any
// other error means that the sum is not all of it.
func (w *Walk) Of(folders ...string) (Sum, error) {
	defer w.leaveDeep()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	w.buf = *buf
	for _, path := range folders {
		fd, err := open(unix.AT_FDCWD, path)
		if gone(err) {
			continue
		}
		if err != nil {
			return w.found, err
		}
		if err := w.folder(fd, "", 0); err != nil {
			return w.found, err
		}
	}
	return w.found, nil
}

// Empty reports whether nothing is in a folder, or it is gone.
func Empty(path string) (bool, error) {
	_, err := (&Walk{}).Of(path)
	if errors.Is(err, ErrMany) {
		return false, nil
	}
	return err == nil, err
}

// gone reports that what was there is there no more, or is no folder any more.
func gone(err error) bool {
	return err == unix.ENOENT || err == unix.ENOTDIR || err == unix.ELOOP
}

// folder takes over fd.
func (w *Walk) folder(fd int, path string, depth int) error {
	defer sys.Close(fd)
	for {
		n, err := sys.Getdents(fd, w.buf)
		if n <= 0 || err != nil {
			if gone(err) { // it was removed meanwhile
				err = nil
			}
			return err
		}
		folders, err := w.entries(fd, path, w.buf[:n])
		if err != nil {
			return err
		}
		for _, name := range folders {
			if err := w.inside(fd, path, name, depth+1); err != nil {
				return err
			}
		}
	}
}

// entries counts what was read of a folder, and returns the folders among it.
func (w *Walk) entries(fd int, path string, read []byte) (folders []string, err error) {
	for entry := range sys.Entries(read) {
		if w.found.Entries++; w.found.Entries > w.Entries {
			return nil, ErrMany
		}
		if err := w.breathe(); err != nil {
			return nil, err
		}
		if w.Sizes || entry.Type == unix.DT_UNKNOWN {
			if entry, err = w.measure(fd, entry); err != nil {
				return nil, err
			}
		}
		switch {
		case entry.Type == unix.DT_DIR:
			folders = append(folders, entry.Name)
		case w.Visit != nil:
			if err := w.Visit(join(path, entry.Name), entry); err != nil {
				return nil, err
			}
		}
	}
	return folders, nil
}

// measure adds up what an entry takes, and tells its type for certain.
func (w *Walk) measure(fd int, entry sys.Entry) (sys.Entry, error) {
	st, err := sys.Fstatat(fd, entry.Name, unix.AT_SYMLINK_NOFOLLOW)
	if gone(err) {
		return sys.Entry{Name: entry.Name, Type: unix.DT_UNKNOWN}, nil
	}
	if err != nil {
		return entry, err
	}
	w.found.Bytes += st.Blocks * 512
	entry.Type = byte(st.Mode & unix.S_IFMT >> 12) // the same numbers (readdir(3), inode(7))
	return entry, nil
}

func (w *Walk) inside(parent int, path, name string, depth int) error {
	if depth > MaxDepth {
		return ErrDeep
	}
	if depth > usualDepth && !w.deep {
		w.deep = true
		deeper <- struct{}{}
	}
	if err := w.breathe(); err != nil {
		return err
	}
	fd, err := open(parent, name)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return w.folder(fd, join(path, name), depth)
}

func (w *Walk) leaveDeep() {
	if w.deep {
		w.deep = false
		<-deeper
	}
}

// breathe asks now and then whether to go on.
func (w *Walk) breathe() error {
	if w.since++; w.since < 64 || w.Cancelled == nil {
		return nil
	}
	w.since = 0
	if w.Cancelled() {
		return ErrCancelled
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

// open opens a folder without a trace: a snippet that sees the time of the last
// look could move its files behind it.
func open(parent int, name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW
	fd, err := sys.Openat(parent, name, flags|unix.O_NOATIME)
	if err == unix.EPERM { // somebody else's folder
		fd, err = sys.Openat(parent, name, flags)
	}
	if err == unix.EACCES {
		return openClosed(parent, name)
	}
	return fd, err
}

// openClosed opens a folder whose mode keeps even its owner from listing it: a
// snippet can still write there. It goes by a descriptor, so that what is opened
// is what was there.
func openClosed(parent int, name string) (int, error) {
	handle, err := sys.Openat(parent, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return -1, err
	}
	defer sys.Close(handle)
	path := "/proc/self/fd/" + strconv.Itoa(handle)
	if err := sys.Chmod(path, 0o700); err != nil {
		return -1, err
	}
	return sys.Openat(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY)
}
