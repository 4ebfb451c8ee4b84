package service

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

// expected ends each case of the demo set as it must end.
func expected(_ context.Context, job snippet.Job) (snippet.Result, error) {
	for _, c := range DemoSet() {
		if c.Code == job.Request.Code {
			return snippet.Result{Outcome: c.Reason.Outcome(), Reason: c.Reason, DurationMS: 1}, nil
		}
	}
	return snippet.Result{}, errors.New("no case of the demo set")
}

func TestDemoSet(t *testing.T) {
	names, outcomes := map[string]bool{}, map[snippet.Outcome]int{}
	for _, c := range DemoSet() {
		if err := snippet.Validate(snippet.Request{Code: c.Code, Timeout: c.Timeout}); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if names[c.Name] || c.Shows == "" {
			t.Errorf("%s: a name twice, or nothing shown", c.Name)
		}
		names[c.Name] = true
		outcomes[c.Reason.Outcome()]++
	}
	want := map[snippet.Outcome]int{snippet.OK: 5, snippet.Blocked: 6, snippet.Timeout: 1, snippet.Error: 4}
	for _, o := range snippet.Outcomes() {
		if outcomes[o] != want[o] {
			t.Errorf("%d are %s; the documentation says %d", outcomes[o], o, want[o])
		}
	}
}

func TestDemo(t *testing.T) {
	var events []metrics.Event
	s := New(Config{
		Runner:   runnerFunc(expected),
		Recorder: recorderFunc(func(_ context.Context, e metrics.Event) error { events = append(events, e); return nil }),
	})
	report, err := s.Demo(t.Context(), Caller{RequestID: "r"})
	if err != nil || !report.AsExpected || len(report.Cases) != len(DemoSet()) || len(events) != len(DemoSet()) {
		t.Fatalf("error %v, %d events, report %+v", err, len(events), report)
	}
	for i, e := range events {
		if c := report.Cases[i]; !e.Demo || e.RequestID != "r" || e.ID != c.ID || e.Reason != c.ExpectedReason || !c.AsExpected {
			t.Errorf("case %+v, event %+v", c, e)
		}
	}
	if report.Outcomes[snippet.Blocked] != 6 || s.Load().InFlight != 0 {
		t.Errorf("outcomes %v, load %+v", report.Outcomes, s.Load())
	}
}

func TestDemoNotAsExpected(t *testing.T) {
	s := New(Config{Runner: runnerFunc(fine)})
	report, err := s.Demo(t.Context(), Caller{})
	if err != nil || report.AsExpected || report.Outcomes[snippet.OK] != len(DemoSet()) || report.Outcomes[snippet.Error] != 0 {
		t.Errorf("error %v, report %+v", err, report)
	}
}

func TestDemoEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		s := New(Config{Runner: runnerFunc(func(ctx context.Context, _ snippet.Job) (snippet.Result, error) {
			ran++
			select {
			case <-time.After(3 * time.Second):
				return fine(ctx, snippet.Job{})
			case <-ctx.Done():
				return snippet.Result{Outcome: snippet.Error, Reason: snippet.Abandoned}, nil
			}
		})})
		began := time.Now()
		_, err := s.Demo(t.Context(), Caller{})
		if !errors.Is(err, ErrDemoTime) || time.Since(began) != DemoTime || ran != 4 || s.Load().InFlight != 0 {
			t.Errorf("error %v after %v and %d cases, load %+v", err, time.Since(began), ran, s.Load())
		}
	})
}

func TestDemoRefused(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	left := New(Config{Runner: runnerFunc(func(context.Context, snippet.Job) (snippet.Result, error) {
		cancel()
		return snippet.Result{}, context.Canceled
	})})
	if _, err := left.Demo(ctx, Caller{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller left: %v", err)
	}
	none := New(Config{Runner: runnerFunc(func(context.Context, snippet.Job) (snippet.Result, error) {
		return snippet.Result{}, snippet.ErrUnavailable
	})})
	if _, err := none.Demo(t.Context(), Caller{}); !errors.Is(err, snippet.ErrUnavailable) {
		t.Errorf("no sandbox: %v", err)
	}
	full := New(Config{Runner: runnerFunc(fine), Concurrency: 1, Queue: -1})
	mustEnter(t, full.gate)
	var busy *BusyError
	if _, err := full.Demo(t.Context(), Caller{}); !errors.As(err, &busy) {
		t.Errorf("no slot: %v", err)
	}
}
