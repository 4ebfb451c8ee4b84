package sqlite

import (
	"context"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
)

const leftToCount = "SELECT count(*) FROM events WHERE rowid > (SELECT row FROM counted)"

// What is recorded is in every answer at once, and in the file's sums soon after.
func TestSumsAreRightBeforeTheyAreWritten(t *testing.T) {
	folder := t.TempDir()
	s := mustOpen(t, folder, Limits{})
	view, err := OpenView(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	for n := range 20 {
		e := metricstest.Event(n)
		e.Tenant = []string{"one", "two"}[n%2]
		if err := s.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		for _, r := range []metrics.Reader{s, view} {
			wantExecutions(t, r, metrics.Everyone, n+1)
			wantExecutions(t, r, "one", n/2+1)
		}
	}
	for end := time.Now().Add(20 * time.Second); ask[int](t, s.write, leftToCount) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the sums were not written")
		}
	}
	wantExecutions(t, view, metrics.Everyone, 20)
	if n := ask[int](t, s.write, "SELECT value FROM totals WHERE scope = 'one' AND counter = 'executions'"); n != 10 {
		t.Errorf("the file's own sum is %d, want 10", n)
	}
}

func wantExecutions(t *testing.T, r metrics.Reader, scope string, n int) {
	t.Helper()
	snap, err := r.Snapshot(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	inSeries := int64(0)
	for _, m := range snap.Minutes {
		inSeries += m.Executions
	}
	if snap.Executions != int64(n) || inSeries != int64(n) {
		t.Errorf("scope %q: %d executions, %d in the series, want %d", scope, snap.Executions, inSeries, n)
	}
}

// A store that is closed leaves nothing to count.
func TestCloseWritesTheSums(t *testing.T) {
	folder := t.TempDir()
	s := mustOpen(t, folder, Limits{})
	if err := s.Record(t.Context(), metricstest.Event(1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := ask[int](t, raw(t, folder), leftToCount); n != 0 {
		t.Errorf("%d events are left to count", n)
	}
}

// Sums that cannot be written are right all the same; it is said when many wait.
func TestSumsThatCannotBeWritten(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Limits{})
	do(t, s.write, "CREATE TRIGGER refuse BEFORE INSERT ON totals BEGIN SELECT RAISE(ABORT, 'refused'); END")
	refused := 0
	for n := range countEvery + 10 {
		if s.Record(t.Context(), metricstest.Event(n)) != nil {
			refused++
		}
	}
	if refused < 10 || refused > countEvery {
		t.Errorf("%d of %d records were refused", refused, countEvery+10)
	}
	do(t, s.write, "DROP TRIGGER refuse")
	for n := range countEvery + 10 { // also those that were refused may be repeated
		if err := s.Record(t.Context(), metricstest.Event(n)); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := s.Snapshot(t.Context(), metrics.Everyone)
	if err != nil || snap.Executions != countEvery+10 {
		t.Errorf("%d executions, want %d; error %v", snap.Executions, countEvery+10, err)
	}
}

// SQLite gives the number of a row again when the row with the greatest one is
// gone. What has it then is counted too.
func TestNumbersGivenAgainAreCounted(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Limits{Events: 10})
	start := time.Now().Add(-time.Minute)
	entries := timed(40, start)
	late := entries[5]
	entries = append(append(entries[:5:5], entries[6:]...), late) // the last row is an old event's
	if err := s.put(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	s.unpruned = pruneEvery
	if err := s.count(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := ask[int](t, s.write, "SELECT max(rowid) FROM events"); n >= 40 {
		t.Fatalf("the greatest row is %d, want the last one gone", n)
	}
	if err := s.Record(t.Context(), metricstest.Event(900)); err != nil {
		t.Fatal(err)
	}
	wantExecutions(t, s, metrics.Everyone, 41)
	if err := s.count(context.Background()); err != nil {
		t.Fatal(err)
	}
	wantExecutions(t, s, metrics.Everyone, 41)
}
