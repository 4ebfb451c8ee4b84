package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
)

// clock is a time that a test sets. Only one goroutine may use the store then.
type clock struct{ now time.Time }

func openAt(t *testing.T, folder string, limits Limits, c *clock) *Store {
	t.Helper()
	s, err := open(t.Context(), folder, limits, func() time.Time { return c.now })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func eventAt(n int, at time.Time) metrics.Event {
	e := metricstest.Event(n)
	e.Time = at
	return e
}

// TestEventsAreBounded: the file stops growing, and the totals stay exact.
func TestEventsAreBounded(t *testing.T) {
	folder := t.TempDir()
	s := mustOpen(t, folder, Limits{Events: 500})
	start := time.Now().Add(-20 * time.Minute)
	var early int64
	const n = 6000
	for part := range slices.Chunk(timed(n, start), maxBatch) {
		if err := s.transact(t.Context(), part); err != nil {
			t.Fatal(err)
		}
		if kept := ask[int](t, s.write, "SELECT count(*) FROM events"); kept > 500+2*maxBatch {
			t.Fatalf("%d events kept", kept)
		}
		if early == 0 && part[0].event.ID > eventAt(2000, start).ID {
			early = size(t, s, folder)
		}
	}
	if late := size(t, s, folder); late > early*5/4 {
		t.Errorf("file grew from %d to %d bytes while its events were bounded", early, late)
	}
	snap, err := s.Snapshot(t.Context(), "")
	if err != nil || snap.Executions != n || len(snap.Recent) != metrics.RecentEvents || snap.Recent[0].ID != eventAt(n-1, start).ID {
		t.Errorf("%d executions, %d recent, error %v", snap.Executions, len(snap.Recent), err)
	}
}

func timed(n int, start time.Time) []*entry {
	entries := make([]*entry, n)
	for i := range entries {
		e := eventAt(i, start.Add(time.Duration(i)*time.Millisecond).Truncate(time.Millisecond))
		entries[i] = &entry{event: e, done: make(chan error, 1)}
	}
	return entries
}

func size(t *testing.T, s *Store, folder string) int64 {
	t.Helper()
	do(t, s.write, "PRAGMA wal_checkpoint(TRUNCATE)")
	info, err := os.Stat(filepath.Join(folder, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestForgottenIsNotCountedAgain: a replay of what was pruned is refused, a
// repeat of what is still there is not.
func TestForgottenIsNotCountedAgain(t *testing.T) {
	folder := t.TempDir()
	s := mustOpen(t, folder, Limits{Events: 100})
	entries := timed(400, time.Now().Add(-time.Minute))
	if err := s.transact(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	oldest, newest := entries[0].event, entries[399].event
	if err := s.Record(t.Context(), oldest); !errors.Is(err, metrics.ErrExpired) {
		t.Errorf("replay of a forgotten event: error %v", err)
	}
	if err := s.Record(t.Context(), newest); err != nil {
		t.Errorf("repeat of a kept event: error %v", err)
	}
	s.Close()
	s = mustOpen(t, folder, Limits{})
	if err := s.Record(t.Context(), oldest); !errors.Is(err, metrics.ErrExpired) {
		t.Errorf("after a restart: error %v", err)
	}
	if snap, err := s.Snapshot(t.Context(), ""); err != nil || snap.Executions != 400 {
		t.Errorf("%d executions, error %v", snap.Executions, err)
	}
}

// TestAges: events and minutes expire, totals do not.
func TestAges(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)
	c := &clock{start}
	s := openAt(t, t.TempDir(), Limits{EventAge: 72 * time.Hour, MinuteAge: 2 * time.Hour}, c)
	for i, hours := range []int{0, 1, 4, 80} {
		c.now = start.Add(time.Duration(hours) * time.Hour)
		if err := s.Record(t.Context(), eventAt(i, c.now)); err != nil {
			t.Fatal(err)
		}
	}
	if n := ask[int](t, s.write, "SELECT count(*) FROM events"); n != 1 {
		t.Errorf("%d events kept, want 1", n)
	}
	if n := ask[int](t, s.write, "SELECT count(DISTINCT minute) FROM minutes"); n != 1 {
		t.Errorf("%d minutes kept, want 1", n)
	}
	if err := s.Record(t.Context(), eventAt(0, start)); !errors.Is(err, metrics.ErrExpired) {
		t.Errorf("replay of an expired event: error %v", err)
	}
	if snap, err := s.Snapshot(t.Context(), "default"); err != nil || snap.Executions != 4 {
		t.Errorf("%d executions, error %v", snap.Executions, err)
	}
}
