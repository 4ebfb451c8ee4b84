package metricstest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

// hostile texts would do harm if they were taken for anything but data.
var hostile = []string{
	`'; DROP TABLE events; --`, `" OR ""="`, `%_*?`, `{"S":"x"}`, `#all`, `:scope`, `TENANT#default`,
	`<script>alert(1)</script>`, "two\nlines", "nul\x00byte", "bad \xff\xfe bytes", "\x1b[2Jescape",
	"\u202eright to left", "😀 astral", "é combining", strings.Repeat("long ", 10_000), strings.Repeat("𝔸", 300),
}

// testHostileText: a snippet chooses these texts. It is counted all the same,
// and nobody who reads them is harmed.
func testHostileText(t *testing.T, s metrics.Store) {
	var events []metrics.Event
	for i, text := range hostile {
		e := Event(i)
		e.RequestID, e.Blocked = text, text
		e, err := metrics.Admit(e, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		raw := e
		raw.RequestID, raw.Blocked = text, text
		recordAll(t, s, []metrics.Event{raw})
		events = append(events, e)
	}
	checkSums(t, snapshot(t, s, metrics.Everyone), events)
	got := list(t, s, metrics.Filter{}).Events
	same(t, got, metrics.Newest(events, len(events)))
	for _, e := range got {
		if !utf8.ValidString(e.Blocked) || utf8.RuneCountInString(e.Blocked) > metrics.MaxText || strings.ContainsAny(e.Blocked, "\x00\x1b\n") {
			t.Errorf("kept %q", e.Blocked)
		}
	}
}

// testHostileScope: a scope that no tenant can have is an empty one.
func testHostileScope(t *testing.T, s metrics.Store) {
	recordAll(t, s, varied(10))
	for _, scope := range hostile {
		snap, err := s.Snapshot(t.Context(), scope)
		if err == nil && (snap.Executions != 0 || len(snap.Recent) != 0) {
			t.Errorf("scope %q shows %d runs", scope, snap.Executions)
		}
		page, err := s.Events(t.Context(), metrics.Filter{Scope: scope})
		if err == nil && len(page.Events) != 0 {
			t.Errorf("scope %q lists %d events", scope, len(page.Events))
		}
	}
	checkSums(t, snapshot(t, s, metrics.Everyone), varied(10))
}

// testInvalid: what Cloche cannot have made is refused and leaves no trace.
func testInvalid(t *testing.T, s metrics.Store) {
	for name, change := range map[string]func(*metrics.Event){
		"no id":            func(e *metrics.Event) { e.ID = "" },
		"id of spaces":     func(e *metrics.Event) { e.ID = "a b" },
		"no tenant":        func(e *metrics.Event) { e.Tenant = metrics.Everyone },
		"tenant with #":    func(e *metrics.Event) { e.Tenant = "a#b" },
		"no outcome":       func(e *metrics.Event) { e.Outcome, e.Reason = "", "" },
		"unknown outcome":  func(e *metrics.Event) { e.Outcome = "FINE" },
		"unknown reason":   func(e *metrics.Event) { e.Reason = "bored" },
		"unequal pair":     func(e *metrics.Event) { e.Reason = snippet.Deadline },
		"no time":          func(e *metrics.Event) { e.Time = time.Time{} },
		"future":           func(e *metrics.Event) { e.Time = e.Time.Add(time.Hour) },
		"NaN":              func(e *metrics.Event) { e.DurationMS = math.NaN() },
		"infinite":         func(e *metrics.Event) { e.CPUMS = math.Inf(1) },
		"huge duration":    func(e *metrics.Event) { e.DurationMS = 1e300 },
		"negative wait":    func(e *metrics.Event) { e.QueueMS = -1 },
		"negative bytes":   func(e *metrics.Event) { e.StdoutBytes = -1 },
		"overflowing sum":  func(e *metrics.Event) { e.PeakMemory = math.MaxInt64 },
		"text as the hash": func(e *metrics.Event) { e.CodeSHA256 = "print(1)" },
	} {
		e := Event(1)
		change(&e)
		if err := s.Record(t.Context(), e); !errors.Is(err, metrics.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
	testEmpty(t, s)
}

func testContext(t *testing.T, s metrics.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Record(ctx, Event(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("record: error %v", err)
	}
	if _, err := s.Snapshot(ctx, metrics.Everyone); !errors.Is(err, context.Canceled) {
		t.Errorf("snapshot: error %v", err)
	}
	if _, err := s.Events(ctx, metrics.Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("events: error %v", err)
	}
	recordAll(t, s, []metrics.Event{Event(1)})
	same(t, snapshot(t, s, metrics.Everyone).Executions, 1)
}

// testConsistent: the sums of a scope are of one moment, also under way.
func testConsistent(t *testing.T, s metrics.Store) {
	var wg sync.WaitGroup
	wg.Go(func() { recordAll(t, s, varied(300)) })
	for range 20 {
		snap := snapshot(t, s, metrics.Everyone)
		var outcomes, reasons int64
		for _, n := range snap.Outcomes {
			outcomes += n
		}
		for _, n := range snap.Reasons {
			reasons += n
		}
		same(t, []int64{outcomes, reasons, snap.Duration.Count}, []int64{snap.Executions, snap.Executions, snap.Executions})
	}
	wg.Wait()
}
