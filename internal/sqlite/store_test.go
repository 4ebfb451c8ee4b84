package sqlite

import (
	"testing"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
)

func mustOpen(t testing.TB, folder string, limits Limits) *Store {
	t.Helper()
	s, err := Open(t.Context(), folder, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	folders := map[metrics.Store]string{}
	open := func(t *testing.T, folder string) metrics.Store {
		s := mustOpen(t, folder, Limits{})
		folders[s] = folder
		return s
	}
	metricstest.Run(t,
		func(t *testing.T) metrics.Store { return open(t, t.TempDir()) },
		metricstest.Reopen(func(t *testing.T, s metrics.Store) metrics.Store {
			if err := s.(*Store).Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, folders[s])
		}))
}
