package sandbox

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/snippet"
)

// patrol keeps the limits that the kernel does not: the size and the entries of
// the run's folders together, with files that have no name any more, and threads. It looks every tick, so a run may
// overshoot by what it does in one; a slow look makes the next one later, so
// that it never takes more than a tenth of a core.
type patrol struct {
	child  *child
	limits snippet.Limits
	next   time.Time
}

// look returns the limit that is broken, or "".
func (p *patrol) look(now time.Time) snippet.Reason {
	if now.Before(p.next) {
		return ""
	}
	if threads(p.child.pid) > p.limits.Threads {
		return snippet.ThreadLimit
	}
	u := usage{limits: p.limits}
	if !u.within(p.child.dir) || !u.addNameless(p.child.pid) {
		return snippet.DiskLimit
	}
	p.next = time.Now().Add(max(tick, 10*time.Since(now)))
	return ""
}

// usage adds up folders. It stops as soon as a cap is passed.
type usage struct {
	limits  snippet.Limits
	bytes   int64
	entries int
}

// maxDepth bounds how deep folders may be nested, and so how many descriptors
// the adding up holds. An input path has at most 16 parts.
const maxDepth = 64

// within reports whether a run's folder keeps the limits.
func (u *usage) within(dir string) bool {
	fd, err := unix.Open(dir, folderFlags, 0)
	if err != nil {
		return true // gone, and everything in it
	}
	u.entries -= 2 // the folders that every run has
	return u.add(os.NewFile(uintptr(fd), dir), 0)
}

const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// add takes over folder. Folders are opened one from the other, since a path
// may become longer than the kernel takes.
func (u *usage) add(folder *os.File, depth int) bool {
	defer folder.Close()
	names, _ := folder.Readdirnames(u.limits.FolderEntries - u.entries + 1)
	for _, name := range names {
		var st unix.Stat_t
		if unix.Fstatat(int(folder.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue
		}
		u.entries++
		u.bytes += st.Blocks * 512
		if u.bytes > u.limits.FolderBytes || u.entries > u.limits.FolderEntries || depth > maxDepth {
			return false
		}
		if st.Mode&unix.S_IFMT == unix.S_IFDIR && !u.addInside(folder, name, depth+1) {
			return false
		}
	}
	return true
}

func (u *usage) addInside(folder *os.File, name string, depth int) bool {
	fd, err := unix.Openat(int(folder.Fd()), name, folderFlags, 0)
	if err == unix.EACCES {
		fd, err = openClosed(int(folder.Fd()), name)
	}
	if err != nil {
		return true // gone
	}
	return u.add(os.NewFile(uintptr(fd), name), depth)
}

// openClosed opens a folder whose mode keeps even its owner from listing it: a
// snippet can still write there. It goes by a descriptor, so that what is opened
// is what was there.
func openClosed(parent int, name string) (int, error) {
	handle, err := unix.Openat(parent, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer closeFDs(handle)
	path := "/proc/self/fd/" + strconv.Itoa(handle)
	if err := unix.Chmod(path, 0o700); err != nil {
		return -1, err
	}
	return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// addNameless adds what the process holds in files that it has unlinked: they take
// room on the disk, and no folder names them. Where /proc does not let us look it
// adds nothing.
func (u *usage) addNameless(pid int) bool {
	task := livingTask(pid)
	return u.addOpen(task) && u.addMapped(task)
}

// addMapped adds nameless files that are only mapped: one page keeps all of a
// file. Nothing tells its size, so each counts as a quarter of what the folder
// may hold.
func (u *usage) addMapped(task string) bool {
	maps, err := os.Open(task + "/maps")
	if err != nil {
		return true
	}
	defer maps.Close()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 6 && fields[len(fields)-1] == "(deleted)" && !seen[fields[4]] && fields[4] != "0" {
			seen[fields[4]] = true
			u.bytes += u.limits.FolderBytes / 4
		}
	}
	return u.bytes <= u.limits.FolderBytes
}

func (u *usage) addOpen(task string) bool {
	folder, err := os.Open(task + "/fd")
	if err != nil {
		return true
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(u.limits.OpenFiles)
	seen := map[uint64]bool{} // a file may be open more than once
	for _, name := range names {
		var st unix.Stat_t
		if unix.Fstatat(int(folder.Fd()), name, &st, 0) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink > 0 || seen[st.Ino] {
			continue
		}
		seen[st.Ino] = true
		u.bytes += st.Blocks * 512
	}
	return u.bytes <= u.limits.FolderBytes
}
