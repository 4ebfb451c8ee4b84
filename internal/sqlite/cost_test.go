package sqlite

import (
	"slices"
	"testing"
	"time"
)

// TestSnapshotCostsTheSame compares a few events with many, taking turns, so that a busy machine slows both.
func TestSnapshotCostsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a large file")
	}
	small, large := mustOpen(t, t.TempDir(), Limits{}), mustOpen(t, t.TempDir(), Limits{})
	fill(t, small, 1000)
	fill(t, large, many)
	var quick, slow []time.Duration
	for range 25 {
		quick = append(quick, snapshotTime(t, small))
		slow = append(slow, snapshotTime(t, large))
	}
	t.Logf("median snapshot: %v with 1000 events, %v with %d", median(quick), median(slow), many)
	if median(slow) > 3*median(quick) {
		t.Error("a snapshot costs more with more events")
	}
}

func snapshotTime(t *testing.T, s *Store) time.Duration {
	t.Helper()
	start := time.Now()
	if _, err := s.Snapshot(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	return time.Since(start)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
