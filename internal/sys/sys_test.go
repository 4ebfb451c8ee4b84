//go:build linux

package sys

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestEntries(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "with space", "\xff"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	fd, err := Openat(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(fd)
	buf := make([]byte, 4096)
	n, err := Getdents(fd, buf)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for e := range Entries(buf[:n]) {
		if (e.Type == unix.DT_DIR) != (e.Name == "folder") && e.Type != unix.DT_UNKNOWN {
			t.Errorf("%q has type %d", e.Name, e.Type)
		}
		names = append(names, e.Name)
	}
	slices.Sort(names)
	if want := []string{"a", "folder", "with space", "\xff"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	for cut := range n { // whatever is cut off, nothing is read beyond it
		for range Entries(buf[:cut]) {
			continue
		}
	}
}

func TestInject(t *testing.T) {
	restore := Inject(func(call string) error {
		if call == "openat" {
			return unix.EMFILE
		}
		return nil
	})
	fd, err := Openat(unix.AT_FDCWD, "/", unix.O_RDONLY)
	_, other := Fstatat(unix.AT_FDCWD, "/", 0)
	restore()
	if fd != -1 || !errors.Is(err, unix.EMFILE) || other != nil {
		t.Errorf("got %d, %v and %v", fd, err, other)
	}
	if fd, err = Openat(unix.AT_FDCWD, "/", unix.O_RDONLY); err != nil {
		t.Error(err)
	}
	Close(fd)
}
