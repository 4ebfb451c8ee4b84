package metricstest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

// Event is a valid event of a run that ended now, with the given number in its
// ID. Change what a test is about.
func Event(n int) metrics.Event {
	sum := sha256.Sum256(fmt.Append(nil, n))
	return metrics.Event{
		ID:         fmt.Sprintf("01TEST%020d", n),
		Time:       time.Now().UTC().Truncate(time.Millisecond),
		Tenant:     "default",
		RequestID:  fmt.Sprintf("request-%d", n),
		Outcome:    snippet.OK,
		Reason:     snippet.Completed,
		DurationMS: 12.5,
		CPUMS:      9.25,
		PeakMemory: 20 << 20,
		QueueMS:    0.5,
		CodeSHA256: hex.EncodeToString(sum[:]),
		CodeBytes:  42,
	}
}

// varied is n events of the last half hour with every reason among them, of
// three tenants, a fifth of them demo runs.
func varied(n int) []metrics.Event {
	now := time.Now().UTC().Truncate(time.Millisecond)
	events := make([]metrics.Event, n)
	for i := range events {
		e := Event(i)
		e.Time = now.Add(-time.Duration(i*7919%1800) * time.Second)
		e.Tenant = fmt.Sprintf("tenant-%d", i%3)
		e.Reason = snippet.Reasons()[i%len(snippet.Reasons())]
		e.Outcome = e.Reason.Outcome()
		e.Demo = i%5 == 0
		e.DurationMS = float64(i*37%25_000) + 0.125
		events[i] = e
	}
	return events
}

func recordAll(t *testing.T, s metrics.Store, events []metrics.Event) {
	t.Helper()
	for _, e := range events {
		if err := s.Record(t.Context(), e); err != nil {
			t.Fatalf("record %s: %v", e.ID, err)
		}
	}
}

func snapshot(t *testing.T, s metrics.Store, scope string) metrics.Snapshot {
	t.Helper()
	snap, err := s.Snapshot(t.Context(), scope)
	if err != nil {
		t.Fatalf("snapshot of %q: %v", scope, err)
	}
	return snap
}

func list(t *testing.T, s metrics.Store, f metrics.Filter) metrics.Page {
	t.Helper()
	page, err := s.Events(t.Context(), f)
	if err != nil {
		t.Fatalf("events of %+v: %v", f, err)
	}
	return page
}

// still is a snapshot without what the clock alone changes.
func still(s metrics.Snapshot) metrics.Snapshot {
	s.Time, s.Minutes, s.Rates.PerMinute = time.Time{}, nil, 0
	return s
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func ids(events []metrics.Event) []string {
	list := make([]string, len(events))
	for i, e := range events {
		list[i] = e.ID
	}
	return list
}
