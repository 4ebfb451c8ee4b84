package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
)

func TestFilesAreForTheOwnerOnly(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "a folder?mode=memory#x%41&é")
	s := mustOpen(t, folder, Limits{})
	if err := s.Record(t.Context(), metricstest.Event(1)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{FileName, FileName + "-wal", FileName + "-shm"} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, error %v", name, info.Mode(), err)
		}
	}
	if mode := ask[string](t, s.write, "PRAGMA journal_mode"); mode != "wal" {
		t.Errorf("journal mode %s", mode)
	}
	if level := ask[int](t, s.write, "PRAGMA synchronous"); level != 1 {
		t.Errorf("synchronous %d, want 1 (NORMAL)", level)
	}
}

func TestWideModeIsNarrowed(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, FileName)
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, folder, Limits{})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}

func TestCloseFoldsTheWALIn(t *testing.T) {
	folder := t.TempDir()
	s := mustOpen(t, folder, Limits{})
	if err := s.Record(t.Context(), metricstest.Event(1)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) != 1 {
		t.Errorf("files after Close: %v", left)
	}
	if err := s.Record(t.Context(), metricstest.Event(2)); !errors.Is(err, ErrClosed) {
		t.Errorf("record: error %v", err)
	}
	if _, err := s.Snapshot(t.Context(), ""); !errors.Is(err, ErrClosed) {
		t.Errorf("snapshot: error %v", err)
	}
	if _, err := s.Events(t.Context(), metrics.Filter{}); !errors.Is(err, ErrClosed) {
		t.Errorf("events: error %v", err)
	}
}

// TestCloseUnderWay: what Record said is recorded is there, whenever Close came.
func TestCloseUnderWay(t *testing.T) {
	folder := t.TempDir()
	s := mustOpen(t, folder, Limits{})
	var mu sync.Mutex
	var counted int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := 0; ; n++ {
				err := s.Record(t.Context(), metricstest.Event(i*100_000+n))
				if err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Errorf("error %v", err)
					}
					return
				}
				mu.Lock()
				counted++
				mu.Unlock()
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	snap, err := mustOpen(t, folder, Limits{}).Snapshot(t.Context(), "")
	if err != nil || snap.Executions != counted {
		t.Errorf("%d executions, %d were recorded; error %v", snap.Executions, counted, err)
	}
}
