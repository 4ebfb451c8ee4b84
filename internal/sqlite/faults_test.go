package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(path string) error
		want    error
	}{
		"not a database": {func(p string) error { return os.WriteFile(p, bytes.Repeat([]byte("text "), 2000), 0o600) }, ErrDamaged},
		"cut off":        {func(p string) error { return os.WriteFile(p, []byte("SQLite format 3\x00"), 0o600) }, ErrDamaged},
		"a folder":       {func(p string) error { return os.Mkdir(p, 0o700) }, nil},
		"loose link":     {func(p string) error { return os.Symlink("/nonexistent/x", p) }, nil},
	} {
		folder := t.TempDir()
		if err := c.prepare(filepath.Join(folder, FileName)); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), folder, Limits{})
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if s != nil {
			t.Errorf("%s: a store and an error", name)
		}
	}
}

func TestOpenWithoutRightToWrite(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	folder := t.TempDir()
	mustOpen(t, folder, Limits{}).Close()
	if err := os.Chmod(filepath.Join(folder, FileName), 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), folder, Limits{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("error %v, want ErrReadOnly", err)
	}
}

// TestDamagedPages blanks one page after the other. Whatever is asked then is
// answered or refused in plain words.
func TestDamagedPages(t *testing.T) {
	whole := t.TempDir()
	s := mustOpen(t, whole, Limits{})
	fill(t, s, 100)
	s.Close()
	content, err := os.ReadFile(filepath.Join(whole, FileName))
	if err != nil {
		t.Fatal(err)
	}
	var refused int
	for page := 0; page < len(content)/4096; page++ {
		damaged := bytes.Clone(content)
		clear(damaged[page*4096 : (page+1)*4096])
		if err := useDamaged(t, damaged); err != nil {
			refused++
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("page %d: error %v", page, err)
			}
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

func useDamaged(t *testing.T, content []byte) error {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, FileName), content, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), folder, Limits{})
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Snapshot(t.Context(), "")
	_, err2 := s.Events(t.Context(), metrics.Filter{Limit: 1000})
	return errors.Join(err, err2, s.Record(t.Context(), metricstest.Event(1000)))
}

func TestReadOnlyWhileOpen(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Limits{})
	do(t, s.write, "PRAGMA query_only = 1") // SQLite then answers as for a file that may not be written
	if err := s.Record(t.Context(), metricstest.Event(1)); !errors.Is(err, ErrReadOnly) {
		t.Errorf("error %v, want ErrReadOnly", err)
	}
}

// TestDiskFull: a full disk loses no count that was confirmed, and the store
// goes on when there is room again.
func TestDiskFull(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Limits{})
	pages := ask[int](t, s.write, "PRAGMA page_count")
	do(t, s.write, fmt.Sprintf("PRAGMA max_page_count = %d", pages+4))
	var counted int64
	var err error
	for n := 0; n < 1000 && err == nil; n++ {
		if err = s.Record(t.Context(), metricstest.Event(n)); err == nil {
			counted++
		}
	}
	if !errors.Is(err, ErrFull) {
		t.Fatalf("error %v, want ErrFull", err)
	}
	do(t, s.write, "PRAGMA max_page_count = 100000")
	if err := s.Record(t.Context(), metricstest.Event(5000)); err != nil {
		t.Error(err)
	}
	snap, err := s.Snapshot(t.Context(), "")
	if err != nil || snap.Executions != counted+1 {
		t.Errorf("%d executions, want %d; error %v", snap.Executions, counted+1, err)
	}
}

func TestLockedByAnother(t *testing.T) {
	folder := t.TempDir()
	s := mustOpen(t, folder, Limits{})
	other := raw(t, folder)
	other.SetMaxOpenConns(1)
	do(t, other, "BEGIN IMMEDIATE")

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := s.Record(ctx, metricstest.Event(1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the deadline's", err)
	}
	if waited := time.Since(start); waited > 3*time.Second {
		t.Errorf("waited %v for a deadline of 50 ms", waited)
	}
	if _, err := s.Snapshot(t.Context(), ""); err != nil {
		t.Errorf("a reader is not held up: %v", err)
	}
	do(t, other, "COMMIT")
	if err := s.Record(t.Context(), metricstest.Event(1)); err != nil {
		t.Error(err)
	}
	if snap, err := s.Snapshot(t.Context(), ""); err != nil || snap.Executions != 1 {
		t.Errorf("%d executions, error %v", snap.Executions, err)
	}

	do(t, s.write, "PRAGMA busy_timeout = 20")
	do(t, other, "BEGIN IMMEDIATE")
	if err := s.Record(t.Context(), metricstest.Event(2)); !errors.Is(err, ErrLocked) {
		t.Errorf("error %v, want ErrLocked", err)
	}
	do(t, other, "COMMIT")
}
