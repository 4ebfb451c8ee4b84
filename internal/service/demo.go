package service

import (
	"context"
	"errors"
	"time"

	"cloche/internal/snippet"
)

// DemoTime bounds the demo set from its slot on. It needs about a tenth of it.
const DemoTime = 10 * time.Second

// ErrDemoTime means that the demo set did not end within DemoTime. The cases
// before that ran and are counted.
var ErrDemoTime = errors.New("the demo set took too long")

// DemoReport says what came of the demo set.
type DemoReport struct {
	AsExpected bool                    `json:"as_expected" doc:"Whether every case came out as it must."`
	Outcomes   map[snippet.Outcome]int `json:"outcomes" doc:"Cases by outcome; every outcome is there."`
	Cases      []DemoResult            `json:"cases" doc:"The cases in the order in which they ran."`
}

// DemoResult is one case of it.
type DemoResult struct {
	Name           string          `json:"name" doc:"Name of the case."`
	Shows          string          `json:"shows" doc:"What there is to see."`
	ID             string          `json:"id" doc:"Our identifier of the run (ULID)."`
	Expected       snippet.Outcome `json:"expected" enum:"OK,BLOCKED,TIMEOUT,ERROR" doc:"The outcome that it must have."`
	ExpectedReason snippet.Reason  `json:"expected_reason" doc:"The reason that it must have."`
	Outcome        snippet.Outcome `json:"outcome" enum:"OK,BLOCKED,TIMEOUT,ERROR" doc:"The outcome that it had."`
	Reason         snippet.Reason  `json:"reason" doc:"The reason that it had."`
	DurationMS     float64         `json:"duration_ms" minimum:"0" doc:"Wall clock time in milliseconds."`
	AsExpected     bool            `json:"as_expected" doc:"Whether outcome and reason are the expected ones."`
}

// Demo runs the demo set, one case after the other. Each is logged and recorded
// like any run, marked as one of the demo. The whole set takes one slot, so it
// is refused as a whole: a *BusyError means that nothing ran. After another
// error, ErrDemoTime or one that Execute returns too, the cases up to there ran.
func (s *Service) Demo(ctx context.Context, caller Caller) (DemoReport, error) {
	queued, err := s.gate.enter(ctx)
	if err != nil {
		return DemoReport{}, err
	}
	began := time.Now()
	defer func() { s.gate.leave(time.Since(began)) }()
	if err := s.fits(ctx, DemoTime); err != nil {
		return DemoReport{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, DemoTime, ErrDemoTime)
	defer cancel()

	caller.Demo = true
	report := newDemoReport()
	for _, c := range DemoSet() {
		result, err := s.show(ctx, c, caller, queued)
		if ctx.Err() != nil {
			return DemoReport{}, context.Cause(ctx)
		}
		if err != nil {
			return DemoReport{}, err
		}
		report.add(c, result)
		queued = 0 // only the first one waited
	}
	return report, nil
}

// show runs one case in the slot that the demo has.
func (s *Service) show(ctx context.Context, c DemoCase, caller Caller, queued time.Duration) (snippet.Result, error) {
	r, err := s.prepare(snippet.Request{Code: c.Code, Timeout: c.Timeout}, caller)
	if err != nil {
		return snippet.Result{}, err
	}
	r.queued = queued
	if caller.Occasion.ID != "" {
		r.job.ID = caller.Occasion.run(c.Name)
	}
	if err := s.work(ctx, r); err != nil {
		return snippet.Result{}, err
	}
	s.finish(ctx, r)
	return r.result, nil
}

func newDemoReport() DemoReport {
	report := DemoReport{AsExpected: true, Outcomes: map[snippet.Outcome]int{}}
	for _, o := range snippet.Outcomes() {
		report.Outcomes[o] = 0
	}
	return report
}

func (d *DemoReport) add(c DemoCase, r snippet.Result) {
	d.Outcomes[r.Outcome]++
	d.AsExpected = d.AsExpected && r.Reason == c.Reason
	d.Cases = append(d.Cases, DemoResult{
		Name: c.Name, Shows: c.Shows, ID: r.ID,
		Expected: c.Reason.Outcome(), ExpectedReason: c.Reason,
		Outcome: r.Outcome, Reason: r.Reason,
		DurationMS: r.DurationMS, AsExpected: r.Reason == c.Reason,
	})
}
