package sqlite

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
)

// fill puts n events of the last hour, many at once.
func fill(t testing.TB, s *Store, n int) {
	t.Helper()
	var batch []*entry
	for i := range n {
		e := metricstest.Event(i)
		e.Time = e.Time.Add(-time.Hour * time.Duration(n-i) / time.Duration(n))
		e.Tenant = fmt.Sprintf("tenant-%d", i%5)
		batch = append(batch, &entry{event: e, done: make(chan error, 1)})
	}
	for part := range slices.Chunk(batch, 5000) {
		if err := s.transact(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{1000, many} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := mustOpen(b, b.TempDir(), Limits{})
			fill(b, s, n)
			for b.Loop() {
				if _, err := s.Snapshot(b.Context(), metrics.Everyone); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRecord has eight writers, as many as the fewest slots of a server.
func BenchmarkRecord(b *testing.B) {
	s := mustOpen(b, b.TempDir(), Limits{})
	var n atomic.Int64
	b.SetParallelism(4)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := s.Record(b.Context(), metricstest.Event(int(n.Add(1)))); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
