package metrics_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/snippet"
)

var now = time.Date(2026, 5, 4, 3, 2, 59, 0, time.UTC)

func sample(i int) metrics.Event {
	e := metricstest.Event(i)
	e.Time = now.Add(-time.Duration(i) * time.Minute / 3)
	e.Reason = snippet.Reasons()[i%len(snippet.Reasons())]
	e.Outcome = e.Reason.Outcome()
	e.DurationMS = float64(i * 13)
	return e
}

// TestShardsMerge: into however many shards events were spread, the snapshot is
// the same.
func TestShardsMerge(t *testing.T) {
	want := sharded(1)
	for _, shards := range []int{2, 16} {
		if diff := cmp.Diff(want, sharded(shards)); diff != "" {
			t.Errorf("%d shards (-one +many):\n%s", shards, diff)
		}
	}
}

func sharded(shards int) metrics.Snapshot {
	parts := make([]metrics.State, shards)
	for i := range 200 {
		e := sample(i)
		d := metrics.DeltaOf(e)
		p := &parts[i%shards]
		p.Totals = sum(p.Totals, d.Totals)
		if p.Minutes == nil {
			p.Minutes = map[int64]metrics.Counters{}
		}
		p.Minutes[d.Minute.Unix()] = sum(p.Minutes[d.Minute.Unix()], d.Minutes)
		p.Recent = metrics.Newest(append(p.Recent, e), metrics.RecentEvents)
	}
	whole := metrics.State{Now: now, Minutes: map[int64]metrics.Counters{}}
	for _, p := range parts {
		whole.Totals = sum(whole.Totals, p.Totals)
		whole.Recent = append(whole.Recent, p.Recent...)
		for m, c := range p.Minutes {
			whole.Minutes[m] = sum(whole.Minutes[m], c)
		}
	}
	return whole.Snapshot()
}

func sum(a, b metrics.Counters) metrics.Counters {
	c := metrics.Counters{}
	c.Add(a)
	c.Add(b)
	return c
}

func TestRates(t *testing.T) {
	s := sharded(1)
	var shares float64
	for _, r := range s.Rates.Outcomes {
		shares += r
	}
	if math.Abs(shares-1) > 1e-9 {
		t.Errorf("the shares of the outcomes add up to %v", shares)
	}
	if math.Abs(s.Rates.PerMinute-3) > 0.1 {
		t.Errorf("%v runs a minute, three were made", s.Rates.PerMinute)
	}
}

// TestJSON: keys in snake_case, all of them always there, and never null.
func TestJSON(t *testing.T) {
	huge := metrics.Counters{}
	for name := range metrics.DeltaOf(sample(0)).Totals {
		huge[name] = math.MaxInt64 / 4
	}
	for name, s := range map[string]metrics.State{
		"empty":  {},
		"filled": {Now: now, Totals: metrics.DeltaOf(sample(3)).Totals, Recent: []metrics.Event{sample(3)}},
		"huge":   {Now: now, Totals: huge},
		"odd":    {Now: now, Totals: metrics.Counters{"a_counter_of_another_version": 5, "executions": 1}},
	} {
		text, err := json.Marshal(s.Snapshot())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var tree any
		if err := json.Unmarshal(text, &tree); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		inspect(t, name, tree)
	}
}

var key = regexp.MustCompile(`^([a-z][a-z0-9_]*|OK|BLOCKED|TIMEOUT|ERROR)$`)

func inspect(t *testing.T, path string, node any) {
	t.Helper()
	switch node := node.(type) {
	case nil:
		t.Errorf("%s is null", path)
	case []any:
		for i, v := range node {
			inspect(t, fmt.Sprintf("%s[%d]", path, i), v)
		}
	case map[string]any:
		for k, v := range node {
			if !key.MatchString(k) {
				t.Errorf("%s has the key %q", path, k)
			}
			inspect(t, path+"."+k, v)
		}
	}
}
