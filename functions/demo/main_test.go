package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"testing"

	"cloche/internal/gateway"
	"cloche/internal/guard"
	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/sandbox"
	"cloche/internal/service"
	"cloche/internal/snippet"
)

func TestMain(m *testing.M) {
	guard.Main()
	os.Exit(m.Run())
}

func sampleTick(t *testing.T) (tick gateway.Tick) {
	t.Helper()
	payload, err := os.ReadFile("../../events/demo-schedule.json")
	if err == nil {
		err = json.Unmarshal(payload, &tick)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tick
}

func TestTickCountsOnce(t *testing.T) {
	box, err := sandbox.New(sandbox.Config{Workers: 2, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	store := &metricstest.Memory{}
	run := show(service.New(service.Config{Runner: box, Recorder: store, Policy: snippet.DefaultPolicy()}))
	tick := sampleTick(t)
	for range 2 {
		if err := run(t.Context(), tick); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := store.Snapshot(t.Context(), "demo")
	if want := int64(len(service.DemoSet())); err != nil || snap.Executions != want || snap.Demo != want {
		t.Errorf("%d runs, %d of the demo: %v", snap.Executions, snap.Demo, err)
	}
	tick.ID = "another"
	if err := run(t.Context(), tick); err != nil {
		t.Fatal(err)
	}
	if snap, err := store.Snapshot(t.Context(), metrics.Everyone); err != nil || snap.Executions != 2*int64(len(service.DemoSet())) {
		t.Errorf("%d runs: %v", snap.Executions, err)
	}
}

type runnerFunc func(context.Context, snippet.Job) (snippet.Result, error)

func (f runnerFunc) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	return f(ctx, job)
}

// A failed invocation is what the alarm is about.
func TestFailures(t *testing.T) {
	fine := runnerFunc(func(context.Context, snippet.Job) (snippet.Result, error) {
		return snippet.Result{Outcome: snippet.OK, Reason: snippet.Completed}, nil
	})
	if err := show(service.New(service.Config{Runner: fine}))(t.Context(), sampleTick(t)); !errors.Is(err, errUnexpected) {
		t.Errorf("everything OK: error %v", err)
	}
	gone := runnerFunc(func(context.Context, snippet.Job) (snippet.Result, error) {
		return snippet.Result{}, snippet.ErrUnavailable
	})
	if err := show(service.New(service.Config{Runner: gone}))(t.Context(), sampleTick(t)); !errors.Is(err, snippet.ErrUnavailable) {
		t.Errorf("no runner: error %v", err)
	}
}
