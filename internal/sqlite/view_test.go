package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
)

func view(t *testing.T, folder string) *View {
	t.Helper()
	v, err := OpenView(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// A view follows a store that is being written, and one that was closed.
func TestViewFollowsTheStore(t *testing.T) {
	folder := t.TempDir()
	s, err := Open(t.Context(), folder, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	v := view(t, folder)
	for n := range 20 {
		if err := s.Record(t.Context(), metricstest.Event(n)); err != nil {
			t.Fatal(err)
		}
		page, err := v.Events(t.Context(), metrics.Filter{})
		if err != nil || len(page.Events) != n+1 {
			t.Fatalf("%d events after %d records: %v", len(page.Events), n+1, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, v := range []*View{v, view(t, folder)} {
		snap, err := v.Snapshot(t.Context(), metrics.Everyone)
		if err != nil || snap.Executions != 20 {
			t.Errorf("%d runs after the store was closed: %v", snap.Executions, err)
		}
	}
}

func TestViewMakesNothing(t *testing.T) {
	folder := t.TempDir()
	if _, err := OpenView(t.Context(), folder); !errors.Is(err, ErrMissing) {
		t.Errorf("no file: %v", err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("made %v", left)
	}
	if _, err := OpenView(t.Context(), filepath.Join(folder, "none")); !errors.Is(err, ErrMissing) {
		t.Errorf("no folder: %v", err)
	}
}

func TestViewRefusesOtherVersions(t *testing.T) {
	for version, want := range map[string]error{"0": ErrOlder, "1": ErrOlder, "99": ErrNewer} {
		folder := t.TempDir()
		s, err := Open(t.Context(), folder, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.write.ExecContext(t.Context(), "PRAGMA user_version = "+version); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenView(t.Context(), folder); !errors.Is(err, want) {
			t.Errorf("version %s: %v, want %v", version, err, want)
		}
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, FileName), []byte("this is no data file, by any measure"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenView(t.Context(), folder); !errors.Is(err, ErrDamaged) {
		t.Errorf("another file: %v", err)
	}
}
