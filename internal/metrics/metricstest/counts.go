package metricstest

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

func testEmpty(t *testing.T, s metrics.Store) {
	for _, scope := range []string{metrics.Everyone, "nobody"} {
		snap := snapshot(t, s, scope)
		want := metrics.State{Scope: scope, Now: snap.Time}.Snapshot()
		same(t, snap, want)
	}
	page := list(t, s, metrics.Filter{})
	if len(page.Events) != 0 || page.Events == nil || page.Next != "" {
		t.Errorf("page of nothing is %+v", page)
	}
}

func testOne(t *testing.T, s metrics.Store) {
	e := Event(1)
	e.Demo, e.Outcome, e.Reason = true, snippet.Blocked, snippet.ImportDenied
	e.BlockedCount, e.Blocked = 3, "socket"
	recordAll(t, s, []metrics.Event{e})
	snap := snapshot(t, s, metrics.Everyone)
	same(t, snap.Recent, []metrics.Event{e})
	if snap.Executions != 1 || snap.Demo != 1 || snap.Outcomes[snippet.Blocked] != 1 || snap.Reasons[snippet.ImportDenied] != 1 {
		t.Errorf("one blocked demo run counts as %+v", snap)
	}
}

// testSums compares with sums computed the slow way.
func testSums(t *testing.T, s metrics.Store) {
	events := varied(300)
	recordAll(t, s, events)
	checkSums(t, snapshot(t, s, metrics.Everyone), events)
}

func checkSums(t *testing.T, snap metrics.Snapshot, events []metrics.Event) {
	t.Helper()
	outcomes, reasons := zeros(snippet.Outcomes()), zeros(snippet.Reasons())
	var demo int64
	var sum float64
	for _, e := range events {
		outcomes[e.Outcome]++
		reasons[e.Reason]++
		sum += e.DurationMS
		if e.Demo {
			demo++
		}
	}
	same(t, snap.Executions, int64(len(events)))
	same(t, snap.Demo, demo)
	same(t, snap.Outcomes, outcomes)
	same(t, snap.Reasons, reasons)
	same(t, snap.Duration.Count, int64(len(events)))
	if math.Abs(snap.Duration.SumMS-sum) > 1e-3*float64(len(events)) {
		t.Errorf("sum of durations is %v ms, want %v", snap.Duration.SumMS, sum)
	}
}

func zeros[K comparable](keys []K) map[K]int64 {
	m := map[K]int64{}
	for _, k := range keys {
		m[k] = 0
	}
	return m
}

func testRepeatsAtOnce(t *testing.T, s metrics.Store) {
	e := Event(1)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if err := s.Record(t.Context(), e); err != nil {
				t.Errorf("a repeat is no error: %v", err)
			}
		})
	}
	wg.Wait()
	checkSums(t, snapshot(t, s, metrics.Everyone), []metrics.Event{e})
	same(t, ids(list(t, s, metrics.Filter{}).Events), []string{e.ID})
}

// testManyWriters has 16 writers, a third of whose events are sent twice, the
// second time by another writer.
func testManyWriters(t *testing.T, s metrics.Store) {
	events := varied(480)
	var lists [16][]metrics.Event
	for i, e := range events {
		lists[i%16] = append(lists[i%16], e)
		if i%3 == 0 {
			lists[(i+5)%16] = append(lists[(i+5)%16], e)
		}
	}
	var wg sync.WaitGroup
	for _, l := range lists {
		rand.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		wg.Go(func() {
			for _, e := range l {
				if err := s.Record(t.Context(), e); err != nil {
					t.Errorf("record: %v", err)
				}
			}
		})
	}
	wg.Wait()
	checkSums(t, snapshot(t, s, metrics.Everyone), events)
	same(t, len(list(t, s, metrics.Filter{Limit: metrics.MaxLimit}).Events), len(events))
}

// testRepeatDiffers: the ID decides; the first one stays.
func testRepeatDiffers(t *testing.T, s metrics.Store) {
	first := Event(1)
	repeat := first
	repeat.Outcome, repeat.Reason, repeat.DurationMS = snippet.Timeout, snippet.Deadline, 5001
	recordAll(t, s, []metrics.Event{first, repeat})
	snap := snapshot(t, s, metrics.Everyone)
	checkSums(t, snap, []metrics.Event{first})
	same(t, snap.Recent, []metrics.Event{first})
}

func testSeries(t *testing.T, s metrics.Store) {
	now := time.Now().UTC().Truncate(time.Minute)
	ages := []int{0, 0, 0, 5, 5, 30, 58, 75, 2000} // in minutes; the last two are out
	for i, age := range ages {
		e := Event(i)
		e.Time = now.Add(-time.Duration(age) * time.Minute)
		if i%2 == 1 {
			e.Outcome, e.Reason = snippet.Error, snippet.Exception
		}
		recordAll(t, s, []metrics.Event{e})
	}
	snap := snapshot(t, s, "default")
	checkSeries(t, snap)
	found := map[int]int64{}
	for _, m := range snap.Minutes {
		if age := int(now.Sub(m.Time).Minutes()); m.Executions != 0 {
			found[age] = m.Executions
		}
	}
	same(t, found, map[int]int64{0: 3, 5: 2, 30: 1, 58: 1})
	same(t, snap.Executions, int64(len(ages)))
}

// checkSeries: 60 whole minutes up to now without a gap, each of which adds up.
func checkSeries(t *testing.T, snap metrics.Snapshot) {
	t.Helper()
	same(t, len(snap.Minutes), metrics.SeriesMinutes)
	for i, m := range snap.Minutes {
		age := time.Duration(metrics.SeriesMinutes-1-i) * time.Minute
		same(t, m.Time, snap.Time.Truncate(time.Minute).Add(-age))
		var sum int64
		for _, o := range snippet.Outcomes() {
			sum += m.Outcomes[o]
		}
		same(t, m.Executions, sum)
	}
}

func testLargest(t *testing.T, s metrics.Store) {
	const n = 100
	var events []metrics.Event
	for i := range n {
		e := Event(i)
		e.DurationMS, e.CPUMS, e.QueueMS = metrics.MaxMS, metrics.MaxMS, metrics.MaxMS
		e.PeakMemory, e.StdoutBytes, e.StderrBytes = metrics.MaxCount, metrics.MaxCount, metrics.MaxCount
		events = append(events, e)
	}
	recordAll(t, s, events)
	snap := snapshot(t, s, metrics.Everyone)
	checkSums(t, snap, events)
	same(t, snap.Duration.SumMS, float64(n*metrics.MaxMS))
	same(t, snap.Recent[0], events[n-1])
}
