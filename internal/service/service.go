// Package service does one run from end to end: it checks the request, finds a
// slot, has a Runner run the snippet, records the event and logs one line. It
// knows neither HTTP nor how a sandbox or a store is made.
package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/oklog/ulid/v2"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

// Runner runs a job once. What the snippet did is in the Result. An error says
// that there is none: snippet.ErrUnavailable when nothing was handed over, the
// context's error when the caller left, anything else is the sandbox's fault.
type Runner interface {
	Run(ctx context.Context, job snippet.Job) (snippet.Result, error)
}

// Recorder counts an event once, however often it is repeated.
type Recorder interface {
	Record(ctx context.Context, event metrics.Event) error
}

// The defaults of Config.
const (
	DefaultConcurrency = 8
	DefaultQueue       = 512
	DefaultWait        = 10 * time.Second
)

// Config says what a Service works with.
type Config struct {
	Runner      Runner         // required
	Recorder    Recorder       // nil: runs are not recorded
	Policy      snippet.Policy // which modules snippets may import
	Limits      snippet.Limits // zero: snippet.DefaultLimits
	Concurrency int            // runs at a time; zero: DefaultConcurrency
	Queue       int            // places in the waiting room; zero: DefaultQueue, negative: none
	Wait        time.Duration  // longest wait for a slot; zero: DefaultWait
	Reserve     time.Duration  // what a run needs beyond its timeout before its context ends; zero: no run is refused for want of time
	Overtime    time.Duration  // how long after its context's deadline a run can still be recorded; zero: that deadline ends no record
	Log         *slog.Logger   // nil: nothing is logged
}

// Caller says who asks. It is data for the log and the event and decides nothing.
type Caller struct {
	RequestID string // the caller's own name of the request, validated; may be empty
	Tenant    string // empty: "default"
	Demo      bool   // a run of the demo set

	Occasion Occasion // of a demo that may be asked for twice and must count once
}

// Service runs snippets. It is safe for concurrent use.
type Service struct {
	config  Config
	gate    *gate
	log     *slog.Logger
	journal journal
}

// New makes a Service. It panics without a Runner: that is a mistake in wiring.
func New(c Config) *Service {
	if c.Runner == nil {
		panic("service: Config.Runner is nil")
	}
	if c.Limits == (snippet.Limits{}) {
		c.Limits = snippet.DefaultLimits()
	}
	if c.Concurrency <= 0 {
		c.Concurrency = DefaultConcurrency
	}
	if c.Queue == 0 {
		c.Queue = DefaultQueue
	}
	if c.Wait <= 0 {
		c.Wait = DefaultWait
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		config:  c,
		gate:    newGate(c.Concurrency, max(c.Queue, 0), c.Wait),
		log:     c.Log,
		journal: journal{recorder: c.Recorder, overtime: c.Overtime, log: c.Log},
	}
}

// Load is how busy the service is now.
func (s *Service) Load() metrics.Load { return s.gate.load() }

// Execute runs a request once and returns the verdict, with its lists never
// nil. An error means that nothing ran: snippet.FieldErrors for a bad request, a
// *BusyError when no slot got free in time, snippet.ErrUnavailable when there is
// no sandbox, and the context's error when the caller left.
func (s *Service) Execute(ctx context.Context, req snippet.Request, caller Caller) (snippet.Result, error) {
	r, err := s.prepare(req, caller)
	if err != nil {
		return snippet.Result{}, err
	}
	if err := s.execute(ctx, r); err != nil {
		return snippet.Result{}, err
	}
	s.finish(ctx, r)
	return r.result, nil
}

// prepare checks a request and gives it what it leaves open.
func (s *Service) prepare(req snippet.Request, caller Caller) (*run, error) {
	if err := snippet.Validate(req); err != nil {
		return nil, err
	}
	if req.Timeout == 0 {
		req.Timeout = snippet.DefaultTimeout
	}
	if caller.Tenant == "" {
		caller.Tenant = "default"
	}
	return newRun(snippet.Job{
		ID:      ulid.MustNew(ulid.Now(), rand.Reader).String(),
		Tenant:  caller.Tenant,
		Request: req,
		Limits:  s.config.Limits,
		Policy:  s.config.Policy,
	}, caller), nil
}

// execute holds a slot for as long as the runner works, and no longer.
func (s *Service) execute(ctx context.Context, r *run) error {
	queued, err := s.gate.enter(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	defer func() { s.gate.leave(time.Since(began)) }()
	r.queued = queued
	if err := s.fits(ctx, r.job.Request.Timeout); err != nil {
		return err
	}
	return s.work(ctx, r)
}

// fits refuses work that may end after its context does. It is never cut short
// instead: nobody could tell such a run from one that met its own deadline.
func (s *Service) fits(ctx context.Context, timeout time.Duration) error {
	end, bounded := ctx.Deadline()
	if left := time.Until(end); s.config.Reserve > 0 && bounded && left < timeout+s.config.Reserve {
		return fmt.Errorf("%w: %v are left for a run of up to %v", snippet.ErrUnavailable, left.Round(time.Millisecond), timeout)
	}
	return nil
}

// work needs a slot. Its error means that nothing ran.
func (s *Service) work(ctx context.Context, r *run) (err error) {
	began := time.Now()
	r.result, err = s.config.Runner.Run(ctx, r.job)
	var fields snippet.FieldErrors
	switch {
	case errors.Is(err, snippet.ErrUnavailable) || errors.As(err, &fields):
		return err
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return ctx.Err() // it left before its job was handed over; later it would be Abandoned
	}
	r.settle(err, time.Since(began))
	return nil
}

// finish logs and records a run before its answer is given.
func (s *Service) finish(ctx context.Context, r *run) {
	event := r.event(time.Now())
	s.log.LogAttrs(ctx, r.level(), "run", r.attrs(event)...)
	s.journal.record(ctx, event)
}
