package metrics

import (
	"math"
	"time"

	"cloche/internal/snippet"
)

// Counters are named sums. A store adds them up under a scope, in as many
// shards as it likes, and knows nothing about their names; a name it has never
// seen is a new counter and needs no migration.
type Counters map[string]int64

// Add adds d's counters to c's. Shards merge this way, in any order.
func (c Counters) Add(d Counters) {
	for name, n := range d {
		c[name] += n
	}
}

// The names. Outcomes, reasons and bucket bounds are part of them, so that a
// new bound never shifts the meaning of an old sum.
const (
	executions  = "executions"
	demoRuns    = "demo"
	durationUS  = "duration_us"
	outcomeName = "outcome_"
	reasonName  = "reason_"
	bucketName  = "le_"
)

// Delta is what one event adds, in each of its scopes.
type Delta struct {
	Scopes  []string  // Everyone, and the event's tenant
	Totals  Counters  // to the totals, which are kept for ever
	Minute  time.Time // start of the event's minute, UTC
	Minutes Counters  // to that minute, which expires
}

// Everyone is the scope of all tenants together. No tenant has this name.
const Everyone = ""

// DeltaOf says what an admitted event adds.
func DeltaOf(e Event) Delta {
	minute := Counters{executions: 1, outcomeName + string(e.Outcome): 1}
	return Delta{
		Scopes:  []string{Everyone, e.Tenant},
		Totals:  totalsOf(e),
		Minute:  e.Time.UTC().Truncate(time.Minute),
		Minutes: minute,
	}
}

func totalsOf(e Event) Counters {
	c := Counters{
		executions:                            1,
		outcomeName + string(e.Outcome):       1,
		reasonName + string(e.Reason):         1,
		bucketCounter(bucketOf(e.DurationMS)): 1,
		durationUS:                            int64(math.Round(e.DurationMS * 1000)),
	}
	if e.Demo {
		c[demoRuns] = 1
	}
	return c
}

func bucketCounter(i int) string { return bucketName + boundText(i) }

func (c Counters) outcomes() map[snippet.Outcome]int64 {
	m := make(map[snippet.Outcome]int64)
	for _, o := range snippet.Outcomes() {
		m[o] = c[outcomeName+string(o)]
	}
	return m
}

func (c Counters) reasons() map[snippet.Reason]int64 {
	m := make(map[snippet.Reason]int64)
	for _, r := range snippet.Reasons() {
		m[r] = c[reasonName+string(r)]
	}
	return m
}

func (c Counters) durations() Durations {
	counts := make([]int64, len(bounds)+1)
	for i := range counts {
		counts[i] = c[bucketCounter(i)]
	}
	return durations(counts, c[durationUS])
}
