package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/snippet"
)

// raw opens the file as any tool would.
func raw(t *testing.T, folder string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(folder, FileName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func do(t *testing.T, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func ask[T any](t *testing.T, db *sql.DB, question string) T {
	t.Helper()
	var answer T
	if err := db.QueryRowContext(t.Context(), question).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	return answer
}

func TestVersion1IsMigrated(t *testing.T) {
	folder := t.TempDir()
	script, err := os.ReadFile("testdata/v1.sql")
	if err != nil {
		t.Fatal(err)
	}
	do(t, raw(t, folder), string(script))

	s := mustOpen(t, folder, Limits{EventAge: 100 * 365 * 24 * time.Hour})
	if got := ask[int](t, s.write, "PRAGMA user_version"); got != len(migrations) {
		t.Errorf("version %d after opening, want %d", got, len(migrations))
	}
	snap, err := s.Snapshot(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	if snap.Executions != 3 || snap.Outcomes[snippet.Error] != 2 || snap.Duration.SumMS != 16 || len(snap.Recent) != 3 {
		t.Errorf("old counts are read as %+v", snap)
	}
	if err := s.Record(t.Context(), snap.Recent[0]); err != nil {
		t.Errorf("repeat of an old event: %v", err)
	}
	if err := s.Record(t.Context(), metricstest.Event(1)); err != nil {
		t.Errorf("a new event: %v", err)
	}
	if snap, _ := s.Snapshot(t.Context(), metrics.Everyone); snap.Executions != 4 {
		t.Errorf("%d executions, want 4", snap.Executions)
	}
}

func TestEmptyFileIsVersion0(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, FileName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, folder, Limits{})
	if err := s.Record(t.Context(), metricstest.Event(1)); err != nil {
		t.Error(err)
	}
}

func TestNewerVersionIsRefused(t *testing.T) {
	folder := t.TempDir()
	db := raw(t, folder)
	do(t, db, "PRAGMA user_version = 99")
	_, err := Open(t.Context(), folder, Limits{})
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("error %v", err)
	}
	if n := ask[int](t, db, "SELECT count(*) FROM sqlite_schema"); n != 0 {
		t.Errorf("%d tables made in a file that was refused", n)
	}
}

func TestManyOpenAtOnce(t *testing.T) {
	folder := t.TempDir()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			s, err := Open(t.Context(), folder, Limits{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for n := range 20 { // the same twenty from all
				if err := s.Record(t.Context(), metricstest.Event(n)); err != nil {
					t.Errorf("store %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	snap, err := mustOpen(t, folder, Limits{}).Snapshot(t.Context(), metrics.Everyone)
	if err != nil || snap.Executions != 20 {
		t.Errorf("%d executions, want 20; error %v", snap.Executions, err)
	}
}

// TestQueriesUseIndexes: the cost of a snapshot must not grow with the events.
func TestQueriesUseIndexes(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Limits{})
	for text, args := range map[string][]any{
		listing(""):                            {0, "", 0, "", 50},
		listing("tenant = ?6 AND"):             {0, "", 0, "", 50, "t"},
		selectTotals:                           {""},
		selectMinutes:                          {"", 0},
		`DELETE FROM events WHERE time <= 5`:   nil,
		`DELETE FROM minutes WHERE minute < 5`: nil,
	} {
		rows, err := s.write.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
		if err != nil {
			t.Fatal(err)
		}
		err = each(rows, func() error {
			var id, parent, unused int
			var detail string
			err := rows.Scan(&id, &parent, &unused, &detail)
			if !strings.HasPrefix(detail, "SEARCH") {
				t.Errorf("%s: %s", text, detail)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
