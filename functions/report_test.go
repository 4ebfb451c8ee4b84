package functions

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloche/internal/config"
	"cloche/internal/snippet"
)

// shelf keeps reports in memory.
type shelf struct {
	last   snippet.Runtime
	at     time.Time
	writes int
	reads  int
	err    error
}

func (s *shelf) SaveReport(_ context.Context, r snippet.Runtime, at time.Time) error {
	s.last, s.at = r, at
	s.writes++
	return s.err
}

func (s *shelf) LastReport(context.Context) (snippet.Runtime, time.Time, error) {
	s.reads++
	return s.last, s.at, s.err
}

type box struct{ runtime snippet.Runtime }

func (b *box) Run(context.Context, snippet.Job) (snippet.Result, error) {
	return snippet.Result{}, nil
}

func (b *box) Runtime() snippet.Runtime { return b.runtime }

func newParts(s *shelf) Parts {
	return Parts{Settings: config.Lambda{Isolated: true}, Log: slog.New(slog.DiscardHandler), Reports: s}
}

func TestReporting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := &shelf{}, &box{}
		runner := newParts(s).Reporting(b)
		for _, step := range []struct {
			after  time.Duration
			python string
			writes int
		}{
			{0, "", 0},
			{0, "3.13.5", 1},
			{time.Second, "3.13.5", 1},
			{time.Second, "forged", 1},
			{changedFor, "forged", 2},
			{changedFor, "forged", 2},
			{unchangedFor, "forged", 3},
		} {
			time.Sleep(step.after)
			b.runtime.Python = step.python
			if _, err := runner.Run(t.Context(), snippet.Job{}); err != nil || s.writes != step.writes {
				t.Errorf("%+v: %d writes, error %v", step, s.writes, err)
			}
		}
		if l := s.last.Layers; len(l) != 1 || l[0].Name != "microvm" || !l[0].Active {
			t.Errorf("layers %+v", l)
		}
		late, cancel := context.WithCancel(t.Context())
		cancel()
		time.Sleep(unchangedFor)
		if _, err := runner.Run(late, snippet.Job{}); err != nil || s.writes != 3 {
			t.Errorf("in the time for recording: %d writes, error %v", s.writes, err)
		}
		s.err = errors.New("no table")
		time.Sleep(unchangedFor)
		if _, err := runner.Run(t.Context(), snippet.Job{}); err != nil {
			t.Errorf("a run failed for its report: %v", err)
		}
	})
}

func TestTenantsLayer(t *testing.T) {
	for _, settings := range []config.Lambda{{Inline: true, Isolated: true}, {Isolated: false}} {
		if l := (Parts{Settings: settings}).tenants(); l.Active || l.Detail == "" {
			t.Errorf("%+v: layer %+v", settings, l)
		}
	}
}

func TestLastRuntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		runtime := newParts(s).LastRuntime()
		last := func() snippet.Layer {
			layers := runtime().Layers
			return layers[len(layers)-1]
		}
		if l := last(); l.Active || l.Name != "report" {
			t.Errorf("before any run: %+v", l)
		}
		s.last, s.at = snippet.Runtime{Python: "3.13.5"}, time.Now()
		if last(); s.reads != 1 {
			t.Errorf("%d reads", s.reads)
		}
		time.Sleep(time.Minute)
		if l := last(); !l.Active || !strings.HasSuffix(l.Detail, "1m0s ago") || runtime().Python != "3.13.5" {
			t.Errorf("after a run: %+v", l)
		}
		s.err = errors.New("no table")
		time.Sleep(time.Minute)
		if l := last(); l.Active {
			t.Errorf("without a table: %+v", l)
		}
	})
}

func TestParts(t *testing.T) {
	if _, err := open(t.Context(), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("no table is no fault")
	}
	t.Setenv("CLOCHE_TABLE", "table")
	t.Setenv("AWS_REGION", "eu-central-1")
	p, err := open(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Runner(t.Context()); err == nil {
		t.Error("no runner is no fault")
	}
	p.Settings.Runner = "runner"
	if runner, err := p.Runner(t.Context()); err != nil || runner.Runtime().Layers == nil {
		t.Errorf("runner %v, error %v", runner, err)
	}
	t.Setenv("CLOCHE_MODE", "x")
	if _, err := open(t.Context(), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("an unknown mode is no fault")
	}
}
