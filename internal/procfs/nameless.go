//go:build linux

package procfs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"cloche/internal/sys"
)

// Unknown is the size of a file that nobody tells.
const Unknown = -1

// Nameless calls visit with each file that only the process keeps: it is open or
// mapped there, and no folder names it any more. Each comes once, with its bytes
// on the disk, or Unknown. What is mapped is looked at on one device only. The
// process should be stopped. Cancelled is asked now and then; it ends the look
// without an error.
func (p *Process) Nameless(device uint64, cancelled func() bool, visit func(inode uint64, size int64)) error {
	task, err := p.living()
	if err != nil {
		return err
	}
	seen := map[uint64]bool{}
	once := func(inode uint64, size int64) {
		if !seen[inode] {
			seen[inode] = true
			visit(inode, size)
		}
	}
	if err := p.open(task, once); err != nil {
		return err
	}
	return p.mapped(task, device, cancelled, once)
}

// open finds unlinked files that have a descriptor.
func (p *Process) open(task string, visit func(inode uint64, size int64)) error {
	return p.list(task+"/fd", func(fd int, entry sys.Entry) (bool, error) {
		st, err := sys.Fstatat(fd, entry.Name, 0)
		if err == unix.ENOENT {
			return true, nil // closed meanwhile
		}
		if err != nil {
			return false, named("look at a descriptor", err)
		}
		if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink == 0 {
			visit(st.Ino, st.Blocks*512)
		}
		return true, nil
	})
}

// mapped finds unlinked files in the list of mappings (proc_pid_maps(5)): a line
// for each, which may be longer than a buffer, as the path at its end may be.
func (p *Process) mapped(task string, device uint64, cancelled func() bool, visit func(inode uint64, size int64)) error {
	fd, err := sys.Openat(p.folder, task+"/maps", unix.O_RDONLY)
	if err != nil {
		return named("open maps", err)
	}
	defer sys.Close(fd)
	lines := bufio.NewReaderSize(fdReader(fd), 32<<10)
	for n := 0; n%256 != 0 || !cancelled(); n++ {
		head, tail, err := line(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return named("read maps", err)
		}
		if !bytes.HasSuffix(tail, []byte(" (deleted)\n")) {
			continue
		}
		if m, ok := parseMapping(head); ok && m.inode != 0 && m.device == device {
			visit(m.inode, p.mappedSize(m.span))
		}
	}
	return nil
}

// line reads one line: what is needed of its beginning and of its end. Both are
// good until the next call.
func line(r *bufio.Reader) (head, tail []byte, err error) {
	part, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, part, err
	}
	head = bytes.Clone(part[:128])
	for errors.Is(err, bufio.ErrBufferFull) {
		last := bytes.Clone(part[len(part)-16:])
		part, err = r.ReadSlice('\n')
		tail = append(last, part...)
	}
	return head, tail, err
}

// mapping is one line of maps.
type mapping struct {
	span   string // "from-to", as map_files names it
	device uint64
	inode  uint64
}

func parseMapping(head []byte) (m mapping, ok bool) {
	fields := strings.Fields(string(head)) // addresses, rights, offset, device, inode, path
	if len(fields) < 5 {
		return m, false
	}
	major, minor, _ := strings.Cut(fields[3], ":")
	high, err1 := strconv.ParseUint(major, 16, 32)
	low, err2 := strconv.ParseUint(minor, 16, 32)
	inode, err3 := strconv.ParseUint(fields[4], 10, 64)
	from, to, _ := strings.Cut(fields[0], "-")
	m = mapping{strings.TrimLeft(from, "0") + "-" + strings.TrimLeft(to, "0"), unix.Mkdev(uint32(high), uint32(low)), inode}
	return m, errors.Join(err1, err2, err3) == nil
}

// mappedSize asks for the file behind a mapping, which only root may
// (proc_pid_map_files(5)).
func (p *Process) mappedSize(span string) int64 {
	st, err := sys.Fstatat(p.folder, "map_files/"+span, 0)
	if err != nil {
		return Unknown
	}
	return st.Blocks * 512
}

// fdReader reads a descriptor.
type fdReader int

func (fd fdReader) Read(buf []byte) (int, error) {
	n, err := sys.Read(int(fd), buf)
	if n == 0 && err == nil {
		return 0, io.EOF
	}
	return max(n, 0), err
}
