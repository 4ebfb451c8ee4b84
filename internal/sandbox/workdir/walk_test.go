//go:build linux

package workdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cloche/internal/sys"
)

func write(t *testing.T, path string, size int) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, make([]byte, size), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestWalk(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	write(t, filepath.Join(one, "a"), 10_000)
	write(t, filepath.Join(one, "d", "e", "b"), 100_000)
	write(t, filepath.Join(two, "c"), 1)
	if err := os.Symlink("/", filepath.Join(one, "link")); err != nil {
		t.Fatal(err)
	}
	var seen []string
	w := Walk{Entries: 100, Sizes: true, Visit: func(path string, e sys.Entry) error {
		seen = append(seen, fmt.Sprint(path, " ", e.Type == unix.DT_REG))
		return nil
	}}
	sum, err := w.Of(one, two, filepath.Join(one, "gone"))
	if err != nil || sum.Entries != 6 || sum.Bytes < 110_000 || sum.Bytes > 200_000 {
		t.Errorf("got %+v, %v", sum, err)
	}
	slices.Sort(seen)
	if want := []string{"a true", "c true", "d/e/b true", "link false"}; !slices.Equal(seen, want) {
		t.Errorf("visited %q, want %q", seen, want)
	}
}

func TestBounds(t *testing.T) {
	dir := t.TempDir()
	for n := range 200 {
		write(t, filepath.Join(dir, fmt.Sprint(n)), 0)
	}
	if sum, err := (&Walk{Entries: 100}).Of(dir); err != ErrMany || sum.Entries != 101 {
		t.Errorf("many: %+v, %v", sum, err)
	}
	asked := 0
	if _, err := (&Walk{Entries: 1000, Cancelled: func() bool { asked++; return true }}).Of(dir); err != ErrCancelled || asked != 1 {
		t.Errorf("cancelled: %v, asked %d times", err, asked)
	}
	fits, deep := t.TempDir(), t.TempDir()
	if err := errors.Join(os.MkdirAll(fits+strings.Repeat("/d", MaxDepth), 0o700), os.MkdirAll(deep+strings.Repeat("/d", MaxDepth+1), 0o700)); err != nil {
		t.Fatal(err)
	}
	for range 3 { // the place of a deep walk is given back
		if _, err := (&Walk{Entries: 1000}).Of(fits); err != nil {
			t.Errorf("as deep as may be: %v", err)
		}
		if _, err := (&Walk{Entries: 1000}).Of(deep); err != ErrDeep {
			t.Errorf("deeper: %v", err)
		}
	}
}

// TestClosed: a folder that even its owner may not list is looked into.
func TestClosed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "closed", "file"), 1)
	if err := os.Chmod(filepath.Join(dir, "closed"), 0o300); err != nil {
		t.Fatal(err)
	}
	if sum, err := (&Walk{Entries: 10}).Of(dir); err != nil || sum.Entries != 2 {
		t.Errorf("got %+v, %v", sum, err)
	}
}

// TestNoTrace: whoever watches a folder does not see that it was looked at.
func TestNoTrace(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), 1)
	old := unix.Timespec{Sec: 1}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, dir, []unix.Timespec{old, {Sec: 2}}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Walk{Entries: 10, Sizes: true}).Of(dir); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil || st.Atim != old {
		t.Errorf("last looked at %v, %v", st.Atim, err)
	}
}

func TestEmpty(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]bool{dir: true, filepath.Join(dir, "gone"): true, filepath.Dir(dir): false} {
		if got, err := Empty(name); got != want || err != nil {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}

// TestFaults: a walk that could not see everything never says that it did.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	for n := range 5 {
		write(t, filepath.Join(dir, fmt.Sprint(n), "file"), 1)
	}
	for _, call := range []string{"openat", "getdents", "fstatat"} {
		for _, fault := range []unix.Errno{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.EACCES, unix.EIO} {
			for at := 1; ; at++ {
				calls := 0
				restore := sys.Inject(func(name string) error {
					if name == call {
						if calls++; calls >= at {
							return fault
						}
					}
					return nil
				})
				sum, err := (&Walk{Entries: 100, Sizes: true}).Of(dir)
				restore()
				if calls < at {
					break // it needs fewer
				}
				if err == nil {
					t.Errorf("%s fails with %v from call %d on: %+v", call, fault, at, sum)
				}
			}
		}
	}
}
