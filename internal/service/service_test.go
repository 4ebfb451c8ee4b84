package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

type runnerFunc func(context.Context, snippet.Job) (snippet.Result, error)

func (f runnerFunc) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	return f(ctx, job)
}

type recorderFunc func(context.Context, metrics.Event) error

func (f recorderFunc) Record(ctx context.Context, e metrics.Event) error { return f(ctx, e) }

func fine(context.Context, snippet.Job) (snippet.Result, error) {
	return snippet.Result{Outcome: snippet.OK, Reason: snippet.Completed, DurationMS: 1}, nil
}

// logged gives a logger and a way to read the lines it wrote.
func logged(t *testing.T) (*slog.Logger, func() []map[string]any) {
	var out bytes.Buffer
	return slog.New(slog.NewJSONHandler(&out, nil)), func() (lines []map[string]any) {
		t.Helper()
		for line := range strings.Lines(out.String()) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("log line is not JSON: %v", err)
			}
			lines = append(lines, m)
		}
		return lines
	}
}

func TestExecute(t *testing.T) {
	var job snippet.Job
	var event metrics.Event
	log, lines := logged(t)
	s := New(Config{
		Policy: snippet.DefaultPolicy(),
		Log:    log,
		Runner: runnerFunc(func(_ context.Context, j snippet.Job) (snippet.Result, error) {
			job = j
			return snippet.Result{
				ID: "theirs", Outcome: snippet.Blocked, Reason: snippet.ImportDenied, DurationMS: 2.5,
				Blocked: []snippet.Refusal{{Target: strings.Repeat("é", 300)}}, BlockedCount: 1, FilesOmitted: 2,
			}, nil
		}),
		Recorder: recorderFunc(func(_ context.Context, e metrics.Event) error { event = e; return nil }),
	})
	result, err := s.Execute(t.Context(), snippet.Request{Code: "import os", Stdin: "abc"}, Caller{RequestID: "r-1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ulid.ParseStrict(result.ID); err != nil || job.ID != result.ID || event.ID != result.ID {
		t.Errorf("ids %q, %q, %q: %v", result.ID, job.ID, event.ID, err)
	}
	if job.Request.Timeout != snippet.DefaultTimeout || job.Limits != snippet.DefaultLimits() || len(job.Policy.Rules) == 0 {
		t.Errorf("job lacks defaults: %+v", job)
	}
	if result.Files == nil || len(result.Blocked) != 1 {
		t.Errorf("lists: %v, %v", result.Files, result.Blocked)
	}
	want := metrics.Event{
		ID: result.ID, Time: event.Time, Tenant: "default", RequestID: "r-1",
		Outcome: snippet.Blocked, Reason: snippet.ImportDenied, DurationMS: 2.5, QueueMS: event.QueueMS,
		CodeSHA256: "de2abade832c8e350a1bdc98cfcdb1e202ac4749c5fc51a4a970d41736b6df5c", CodeBytes: 9,
		FilesOut: 2, BlockedCount: 1, Blocked: strings.Repeat("é", 200),
	}
	if d := cmp.Diff(want, event); d != "" {
		t.Errorf("event (-want +got):\n%s", d)
	}
	if err := event.Validate(); err != nil {
		t.Error(err)
	}
	got := lines()
	if len(got) != 1 || got[0]["id"] != result.ID || got[0]["outcome"] != "BLOCKED" || got[0]["stdin_bytes"] != 3.0 {
		t.Errorf("log lines: %v", got)
	}
}

func TestLogHoldsNoSourceAndNoForgedLine(t *testing.T) {
	const canary = "c4n4ry"
	log, lines := logged(t)
	s := New(Config{Log: log, Runner: runnerFunc(func(_ context.Context, j snippet.Job) (snippet.Result, error) {
		return snippet.Result{}, errors.New("first\n{\"id\":\"forged\"}")
	})})
	req := snippet.Request{Code: canary, Stdin: canary, Files: []snippet.File{{Path: canary, Content: []byte(canary)}}}
	if _, err := s.Execute(t.Context(), req, Caller{RequestID: "a\nb\x1b[31m"}); err != nil {
		t.Fatal(err)
	}
	got := lines()
	if len(got) != 1 {
		t.Fatalf("%d lines", len(got))
	}
	for key, value := range got[0] {
		if text, ok := value.(string); ok && strings.Contains(text, canary) {
			t.Errorf("%s holds text of the request", key)
		}
	}
}

func TestRunnerFaults(t *testing.T) {
	for name, test := range map[string]struct {
		result snippet.Result
		err    error
		cause  string
	}{
		"error":           {snippet.Result{}, errors.New("pipe broke"), "pipe broke"},
		"no verdict":      {snippet.Result{}, nil, errVerdict.Error()},
		"no reason":       {snippet.Result{Outcome: snippet.OK}, nil, errVerdict.Error()},
		"wrong reason":    {snippet.Result{Outcome: snippet.OK, Reason: snippet.Deadline}, nil, errVerdict.Error()},
		"unknown outcome": {snippet.Result{Outcome: "FINE", Reason: "fine"}, nil, errVerdict.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			log, lines := logged(t)
			recorded := 0
			s := New(Config{
				Log:      log,
				Runner:   runnerFunc(func(context.Context, snippet.Job) (snippet.Result, error) { return test.result, test.err }),
				Recorder: recorderFunc(func(context.Context, metrics.Event) error { recorded++; return nil }),
			})
			result, err := s.Execute(t.Context(), snippet.Request{Code: "1"}, Caller{})
			if err != nil || result.Reason != snippet.SandboxFailure || result.Outcome != snippet.Error ||
				result.Hint == "" || result.Blocked == nil || result.Files == nil || result.DurationMS <= 0 {
				t.Errorf("result %+v, error %v", result, err)
			}
			got := lines()
			if recorded != 1 || len(got) != 1 || got[0]["cause"] != test.cause || got[0]["level"] != "ERROR" {
				t.Errorf("recorded %d times, log %v", recorded, got)
			}
		})
	}
}

func TestNothingRan(t *testing.T) {
	ran, recorded := 0, 0
	log, lines := logged(t)
	s := New(Config{
		Log: log,
		Runner: runnerFunc(func(context.Context, snippet.Job) (snippet.Result, error) {
			ran++
			return snippet.Result{}, snippet.ErrUnavailable
		}),
		Recorder: recorderFunc(func(context.Context, metrics.Event) error { recorded++; return nil }),
	})
	var fields snippet.FieldErrors
	if _, err := s.Execute(t.Context(), snippet.Request{}, Caller{}); !errors.As(err, &fields) || ran != 0 {
		t.Errorf("bad request: error %v, ran %d", err, ran)
	}
	if _, err := s.Execute(t.Context(), snippet.Request{Code: "1"}, Caller{}); !errors.Is(err, snippet.ErrUnavailable) {
		t.Errorf("no sandbox: error %v", err)
	}
	if recorded != 0 || len(lines()) != 0 || s.Load() != (metrics.Load{}) {
		t.Errorf("recorded %d, log %v, load %+v", recorded, lines(), s.Load())
	}
}

func TestFailingRecorderNeverFailsTheRun(t *testing.T) {
	log, lines := logged(t)
	fault := errors.New("disk full")
	var seen []error
	s := New(Config{
		Log: log, Runner: runnerFunc(fine),
		Recorder: recorderFunc(func(ctx context.Context, _ metrics.Event) error { seen = append(seen, ctx.Err()); return fault }),
	})
	if s.Recording() != Recorded {
		t.Errorf("recording is %s at the start", s.Recording())
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.config.Runner = runnerFunc(func(c context.Context, j snippet.Job) (snippet.Result, error) {
		cancel() // the caller leaves just as the run ends: it is counted all the same
		return fine(c, j)
	})
	result, err := s.Execute(ctx, snippet.Request{Code: "1"}, Caller{})
	if err != nil || s.Recording() != RecordFailed || len(seen) != 1 || seen[0] != nil {
		t.Errorf("error %v, recording %s, recorder saw %v", err, s.Recording(), seen)
	}
	got := lines()
	if len(got) != 2 {
		t.Fatalf("log: %v", got)
	}
	line, _ := json.Marshal(got[1])
	event, err := metrics.DecodeLine(line)
	if err != nil || event.ID != result.ID {
		t.Errorf("replayed event %+v: %v", event, err)
	}
	fault = nil
	s.config.Runner = runnerFunc(fine)
	if _, err := s.Execute(t.Context(), snippet.Request{Code: "1"}, Caller{}); err != nil || s.Recording() != Recorded {
		t.Errorf("error %v, recording %s after a good record", err, s.Recording())
	}
}

func TestCallerLeaves(t *testing.T) {
	log, lines := logged(t)
	started := make(chan struct{})
	s := New(Config{Log: log, Concurrency: 1, Runner: runnerFunc(func(ctx context.Context, _ snippet.Job) (snippet.Result, error) {
		close(started)
		<-ctx.Done()
		return snippet.Result{Outcome: snippet.Error, Reason: snippet.Abandoned}, nil
	})})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.Execute(ctx, snippet.Request{Code: "1"}, Caller{})
		done <- err
	}()
	<-started
	cancel()
	if err := <-done; err != nil {
		t.Errorf("error %v", err)
	}
	if got := lines(); len(got) != 1 || got[0]["level"] != "INFO" || got[0]["reason"] != "abandoned" {
		t.Errorf("log %v", got)
	}
	if s.Load().InFlight != 0 {
		t.Error("slot is still held")
	}
	s.config.Runner = runnerFunc(fine)
	ctx, cancel = context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.Execute(ctx, snippet.Request{Code: "1"}, Caller{}); err != nil {
		t.Errorf("next run: %v", err)
	}
}

func TestPanickingRunnerFreesItsSlot(t *testing.T) {
	s := New(Config{Concurrency: 1, Runner: runnerFunc(func(context.Context, snippet.Job) (snippet.Result, error) { panic("bug") })})
	func() {
		defer func() { _ = recover() }()
		_, _ = s.Execute(t.Context(), snippet.Request{Code: "1"}, Caller{})
	}()
	if l := s.Load(); l.InFlight != 0 {
		t.Errorf("load %+v", l)
	}
}

// No numbers of a runner, and no text, keep its run from being counted.
func TestExtremeResultsAreCounted(t *testing.T) {
	counts := []int64{math.MinInt64, -1, 0, metrics.MaxCount, metrics.MaxCount + 1, math.MaxInt64}
	times := []float64{math.NaN(), math.Inf(-1), -1, 0, metrics.MaxMS, math.MaxFloat64, math.Inf(1)}
	texts := []string{"", "\x00\x1b[2J\n", "\xff", strings.Repeat("\xff", 2*metrics.MaxText), strings.Repeat("\u202e", 2*metrics.MaxText)}
	r := newRun(snippet.Job{ID: "id", Request: snippet.Request{Code: "1"}}, Caller{Tenant: "default"})
	admitted := func(result snippet.Result) {
		r.result = result
		r.settle(nil, time.Hour*24)
		if _, err := metrics.Admit(r.event(time.Now()), time.Now()); err != nil {
			t.Errorf("%+v: %v", result, err)
		}
	}
	for _, n := range counts {
		for _, ms := range times {
			for _, text := range texts {
				for _, reason := range append(snippet.Reasons(), "", "fine") {
					admitted(snippet.Result{
						Outcome: reason.Outcome(), Reason: reason, DurationMS: ms, CPUMS: ms, PeakMemoryBytes: n,
						StdoutBytes: n, StderrBytes: n, FilesOmitted: int(n), Files: make([]snippet.Artifact, 1),
						BlockedCount: int(n), Blocked: []snippet.Refusal{{Target: text}},
					})
				}
			}
		}
	}
}
