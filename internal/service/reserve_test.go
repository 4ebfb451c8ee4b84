package service

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oklog/ulid/v2"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

func TestRunThatMayNotEndInTime(t *testing.T) {
	const timeout, reserve = 20 * time.Second, 4 * time.Second
	for name, test := range map[string]struct {
		left, reserve time.Duration
		runs          bool
	}{
		"enough":      {timeout + reserve, reserve, true},
		"too little":  {timeout + reserve - 1, reserve, false},
		"nobody asks": {time.Second, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ran, recorded := 0, 0
				s := New(Config{
					Reserve:  test.reserve,
					Runner:   runnerFunc(func(c context.Context, j snippet.Job) (snippet.Result, error) { ran++; return fine(c, j) }),
					Recorder: recorderFunc(func(context.Context, metrics.Event) error { recorded++; return nil }),
				})
				ctx, cancel := context.WithTimeout(t.Context(), test.left)
				defer cancel()
				_, err := s.Execute(ctx, snippet.Request{Code: "1", Timeout: timeout}, Caller{})
				if (err == nil) != test.runs || (ran == 1) != test.runs || recorded != ran || (err != nil && !errors.Is(err, snippet.ErrUnavailable)) {
					t.Errorf("ran %d times, recorded %d, error %v", ran, recorded, err)
				}
				if s.Load().InFlight != 0 {
					t.Error("the slot is still held")
				}
			})
		})
	}
}

func TestDemoThatMayNotEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Reserve: time.Second, Runner: runnerFunc(expected)})
		ctx, cancel := context.WithTimeout(t.Context(), DemoTime)
		defer cancel()
		if _, err := s.Demo(ctx, Caller{}); !errors.Is(err, snippet.ErrUnavailable) {
			t.Errorf("error %v", err)
		}
		longer, cancelLonger := context.WithTimeout(t.Context(), DemoTime+time.Second)
		defer cancelLonger()
		if report, err := s.Demo(longer, Caller{}); err != nil || !report.AsExpected {
			t.Errorf("report %+v, error %v", report, err)
		}
	})
}

// Nobody knows what came of a job whose answer is lost, also when the caller's
// time ends meanwhile: it is a verdict, and counted.
func TestLostWhileTheCallerLeaves(t *testing.T) {
	recorded := 0
	ctx, cancel := context.WithCancel(t.Context())
	s := New(Config{
		Runner: runnerFunc(func(context.Context, snippet.Job) (snippet.Result, error) {
			cancel()
			return snippet.Result{}, errors.New("lost")
		}),
		Recorder: recorderFunc(func(context.Context, metrics.Event) error { recorded++; return nil }),
	})
	result, err := s.Execute(ctx, snippet.Request{Code: "1"}, Caller{})
	if err != nil || result.Reason != snippet.SandboxFailure || recorded != 1 {
		t.Errorf("result %+v, recorded %d times, error %v", result, recorded, err)
	}
	gone, leave := context.WithCancel(t.Context())
	s.config.Runner = runnerFunc(func(ctx context.Context, _ snippet.Job) (snippet.Result, error) {
		leave()
		return snippet.Result{}, ctx.Err()
	})
	if _, err := s.Execute(gone, snippet.Request{Code: "1"}, Caller{}); !errors.Is(err, context.Canceled) || recorded != 1 {
		t.Errorf("before hand-over: recorded %d times, error %v", recorded, err)
	}
}

func TestOccasion(t *testing.T) {
	tick := Occasion{ID: "53dc4d37", Time: time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)}
	seen := map[string]bool{}
	for _, c := range DemoSet() {
		id, err := ulid.ParseStrict(tick.run(c.Name))
		if err != nil || !ulid.Time(id.Time()).Equal(tick.Time) || seen[id.String()] {
			t.Errorf("%s: id %s, %v", c.Name, id, err)
		}
		seen[id.String()] = true
	}
	if same, other := tick, (Occasion{ID: "other", Time: tick.Time}); tick.run("a") != same.run("a") || tick.run("a") == other.run("a") {
		t.Error("the same occasion has other ids, or another one the same")
	}
	if _, err := ulid.ParseStrict(Occasion{ID: "x"}.run("a")); err != nil {
		t.Errorf("without a time: %v", err)
	}
	var jobs []snippet.Job
	s := New(Config{Runner: runnerFunc(func(c context.Context, j snippet.Job) (snippet.Result, error) {
		jobs = append(jobs, j)
		return expected(c, j)
	})})
	report, err := s.Demo(t.Context(), Caller{Tenant: "demo", Occasion: tick})
	if err != nil || report.Cases[3].ID != tick.run(report.Cases[3].Name) || jobs[3].ID != report.Cases[3].ID || jobs[3].Tenant != "demo" {
		t.Errorf("case %+v, job %+v, error %v", report.Cases[3], jobs[3], err)
	}
}

// What could not be recorded is in the log before the process ends.
func TestRecordEndsBeforeTheProcess(t *testing.T) {
	const overtime = time.Second
	for name, test := range map[string]struct {
		left, overtime, late, takes time.Duration
	}{
		"late answer":        {20 * time.Second, overtime, 20*time.Second + 90*time.Millisecond, overtime - 90*time.Millisecond},
		"too late":           {20 * time.Second, overtime, 22 * time.Second, 0},
		"early answer":       {20 * time.Second, overtime, 0, recordTimeout},
		"deadline of others": {20 * time.Second, 0, 20 * time.Second, recordTimeout},
		"no deadline":        {0, overtime, 0, recordTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, lines := logged(t)
				var began time.Time
				s := New(Config{
					Log: log, Overtime: test.overtime,
					Runner: runnerFunc(func(c context.Context, j snippet.Job) (snippet.Result, error) {
						time.Sleep(test.late)
						return fine(c, j)
					}),
					Recorder: recorderFunc(func(ctx context.Context, _ metrics.Event) error {
						began = time.Now()
						<-ctx.Done()
						return ctx.Err()
					}),
				})
				ctx := t.Context()
				if test.left > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.left)
					defer cancel()
				}
				if _, err := s.Execute(ctx, snippet.Request{Code: "1"}, Caller{}); err != nil {
					t.Fatal(err)
				}
				took, got := time.Since(began), lines()
				if took != test.takes || len(got) != 2 || got[1]["msg"] != "event not recorded" || got[1][metrics.LineKey] == nil {
					t.Errorf("%v for the record, want %v; log %v", took, test.takes, got)
				}
			})
		})
	}
}
