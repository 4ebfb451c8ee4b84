//go:build linux

package sys

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// Entry is one entry of a folder (struct linux_dirent64, getdents64(2)).
type Entry struct {
	Name string
	Type byte // unix.DT_DIR and the like; unix.DT_UNKNOWN where the file system does not say
}

// Entries goes through what Getdents has read, without "." and "..".
func Entries(read []byte) iter.Seq[Entry] {
	const head = 19 // d_ino, d_off, d_reclen, d_type
	return func(yield func(Entry) bool) {
		for len(read) > head {
			size := int(binary.NativeEndian.Uint16(read[16:]))
			if size <= head || size > len(read) {
				return
			}
			name, _, _ := bytes.Cut(read[head:size], []byte{0})
			entry := Entry{string(name), read[18]}
			read = read[size:]
			if entry.Name != "." && entry.Name != ".." && !yield(entry) {
				return
			}
		}
	}
}
