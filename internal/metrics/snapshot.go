package metrics

import (
	"time"

	"cloche/internal/snippet"
)

// What a Snapshot holds at most.
const (
	SeriesMinutes = 60 // minutes in the series, the current one included
	RecentEvents  = 50
)

// Snapshot is what there is to see at one moment in one scope. Nothing in it is
// ever null or not a number; what has not happened yet is zero.
type Snapshot struct {
	Time       time.Time                 `json:"time" doc:"When the snapshot was taken, UTC."`
	Scope      string                    `json:"scope" doc:"The tenant it is about; empty for all together."`
	Executions int64                     `json:"executions" minimum:"0" doc:"Runs counted since the store was made."`
	Demo       int64                     `json:"demo" minimum:"0" doc:"Runs of the demo set among them."`
	Outcomes   map[snippet.Outcome]int64 `json:"outcomes" doc:"Runs by outcome; every outcome is there."`
	Reasons    map[snippet.Reason]int64  `json:"reasons" doc:"Runs by reason; every reason is there."`
	Duration   Durations                 `json:"duration" doc:"How long runs took, without their wait for a slot."`
	Rates      Rates                     `json:"rates" doc:"Shares and speeds."`
	Minutes    []Minute                  `json:"minutes" doc:"The last 60 minutes, oldest first; the last one is under way."`
	Recent     []Event                   `json:"recent" doc:"The last 50 runs, newest first."`
}

// Rates are computed from the other fields of a Snapshot.
type Rates struct {
	PerMinute float64                     `json:"per_minute" minimum:"0" doc:"Mean runs a minute in the series."`
	Outcomes  map[snippet.Outcome]float64 `json:"outcomes" doc:"Share of each outcome in all runs, 0 to 1; 0 without runs."`
}

// Minute is one point of the series.
type Minute struct {
	Time       time.Time                 `json:"time" doc:"Start of the minute, UTC."`
	Executions int64                     `json:"executions" minimum:"0" doc:"Runs that ended in this minute."`
	Outcomes   map[snippet.Outcome]int64 `json:"outcomes" doc:"Runs by outcome; every outcome is there."`
}

// State is what a store has read for a Snapshot. Nil maps and slices are fine.
type State struct {
	Scope   string
	Now     time.Time
	Totals  Counters
	Minutes map[int64]Counters // by start of the minute in Unix seconds; others than the last 60 are ignored
	Recent  []Event            // in any order; the newest RecentEvents are kept
}

// SeriesStart is the first minute of the series that ends at now.
func SeriesStart(now time.Time) time.Time {
	return now.UTC().Truncate(time.Minute).Add(-(SeriesMinutes - 1) * time.Minute)
}

// Snapshot computes what the sums mean.
func (s State) Snapshot() Snapshot {
	snap := Snapshot{
		Time:       s.Now.UTC().Truncate(time.Millisecond),
		Scope:      s.Scope,
		Executions: s.Totals[executions],
		Demo:       s.Totals[demoRuns],
		Outcomes:   s.Totals.outcomes(),
		Reasons:    s.Totals.reasons(),
		Duration:   s.Totals.durations(),
		Minutes:    s.series(),
		Recent:     Newest(s.Recent, RecentEvents),
	}
	snap.Rates = rates(snap)
	return snap
}

func (s State) series() []Minute {
	start := SeriesStart(s.Now)
	series := make([]Minute, SeriesMinutes)
	for i := range series {
		at := start.Add(time.Duration(i) * time.Minute)
		c := s.Minutes[at.Unix()]
		series[i] = Minute{Time: at, Executions: c[executions], Outcomes: c.outcomes()}
	}
	return series
}

func rates(s Snapshot) Rates {
	r := Rates{Outcomes: make(map[snippet.Outcome]float64)}
	for o, n := range s.Outcomes {
		r.Outcomes[o] = float64(n) / float64(max(1, s.Executions))
	}
	for _, m := range s.Minutes {
		r.PerMinute += float64(m.Executions) / SeriesMinutes
	}
	return r
}
