package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
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
	var u usage
	if !u.within(p.child.dir, p.limits) || !u.addNameless(p.child.pid, p.limits) {
		return snippet.DiskLimit
	}
	p.next = time.Now().Add(max(tick, 10*time.Since(now)))
	return ""
}

// usage adds up folders. It stops as soon as a cap is passed.
type usage struct {
	bytes   int64
	entries int
}

func (u *usage) within(dir string, limits snippet.Limits) bool {
	u.entries -= 2 // the folders that every run has
	return u.add(dir, limits, 0)
}

// maxDepth bounds how deep folders are followed; what lies deeper is more
// nesting than a path can name (PATH_MAX is 4096 bytes).
const maxDepth = 2048

func (u *usage) add(dir string, limits snippet.Limits, depth int) bool {
	folder, err := os.Open(dir)
	if err != nil {
		return true // gone, or unreadable and so without content of the child's
	}
	names, _ := folder.Readdirnames(limits.FolderEntries - u.entries + 1)
	_ = folder.Close()
	for _, name := range names {
		path := filepath.Join(dir, name)
		var st unix.Stat_t
		if unix.Lstat(path, &st) != nil {
			continue
		}
		u.entries++
		u.bytes += st.Blocks * 512
		if u.bytes > limits.FolderBytes || u.entries > limits.FolderEntries {
			return false
		}
		if st.Mode&unix.S_IFMT == unix.S_IFDIR && depth < maxDepth && !u.add(path, limits, depth+1) {
			return false
		}
	}
	return true
}

// addNameless adds what the process holds in open files that it has unlinked: they
// take room on the disk, and no folder names them. What it only maps is bounded
// by its address space. Where its descriptors cannot be seen it adds nothing.
func (u *usage) addNameless(pid int, limits snippet.Limits) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	folder, err := os.Open(dir)
	if err != nil {
		return true
	}
	names, _ := folder.Readdirnames(limits.OpenFiles)
	_ = folder.Close()
	seen := map[uint64]bool{} // a file may be open more than once
	for _, name := range names {
		var st unix.Stat_t
		if unix.Stat(filepath.Join(dir, name), &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink > 0 || seen[st.Ino] {
			continue
		}
		seen[st.Ino] = true
		u.bytes += st.Blocks * 512
	}
	return u.bytes <= limits.FolderBytes
}
