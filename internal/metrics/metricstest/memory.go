package metricstest

import (
	"context"
	"sync"
	"time"

	"cloche/internal/metrics"
)

// Memory is a metrics.Store that forgets everything with the process and
// nothing before. It is the plainest store that passes Run, and stands in for a
// real one in other packages' tests. Its zero value is ready.
type Memory struct {
	mu      sync.Mutex
	seen    map[string]bool
	totals  map[string]metrics.Counters
	minutes map[string]map[int64]metrics.Counters
	events  []metrics.Event
}

// Record counts an event once.
func (m *Memory) Record(ctx context.Context, e metrics.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := metrics.Admit(e, time.Now())
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen[e.ID] {
		return nil
	}
	m.keep(e)
	return nil
}

func (m *Memory) keep(e metrics.Event) {
	if m.seen == nil {
		m.seen = map[string]bool{}
		m.totals = map[string]metrics.Counters{}
		m.minutes = map[string]map[int64]metrics.Counters{}
	}
	m.seen[e.ID] = true
	m.events = append(m.events, e)
	d := metrics.DeltaOf(e)
	for _, scope := range d.Scopes {
		m.add(scope, d)
	}
}

func (m *Memory) add(scope string, d metrics.Delta) {
	if m.totals[scope] == nil {
		m.totals[scope] = metrics.Counters{}
		m.minutes[scope] = map[int64]metrics.Counters{}
	}
	m.totals[scope].Add(d.Totals)
	if m.minutes[scope][d.Minute.Unix()] == nil {
		m.minutes[scope][d.Minute.Unix()] = metrics.Counters{}
	}
	m.minutes[scope][d.Minute.Unix()].Add(d.Minutes)
}

// Snapshot sums up a scope.
func (m *Memory) Snapshot(ctx context.Context, scope string) (metrics.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return metrics.Snapshot{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return metrics.State{
		Scope: scope, Now: time.Now(),
		Totals: m.totals[scope], Minutes: m.minutes[scope],
		Recent: m.choose(metrics.Filter{Scope: scope}, metrics.Start),
	}.Snapshot(), nil
}

// Events lists all events that it was given.
func (m *Memory) Events(ctx context.Context, f metrics.Filter) (metrics.Page, error) {
	f, after, err := f.Check()
	if err != nil {
		return metrics.Page{}, err
	}
	if err := ctx.Err(); err != nil {
		return metrics.Page{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return f.PageOf(metrics.Newest(m.choose(f, after), f.Limit+1)), nil
}

func (m *Memory) choose(f metrics.Filter, after metrics.Position) []metrics.Event {
	var chosen []metrics.Event
	for _, e := range m.events {
		if f.Matches(e) && after.Newer(metrics.PositionOf(e)) {
			chosen = append(chosen, e)
		}
	}
	return chosen
}
