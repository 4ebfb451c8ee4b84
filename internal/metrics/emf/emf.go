// Package emf writes what CloudWatch counts of each run, as lines of a log in
// its embedded metric format.
package emf

import (
	"context"
	"encoding/json"
	"io"
	"sync/atomic"

	"cloche/internal/metrics"
)

// Recorder writes a line for each event before it hands the event on: what
// CloudWatch counts does not depend on the store. It is a metrics.Recorder.
type Recorder struct {
	next      metrics.Recorder
	out       io.Writer
	namespace string
	warm      atomic.Bool // a line was written
}

// New makes a Recorder. What it writes to must be the function's log; nobody
// else whose words are not trusted may write there.
func New(next metrics.Recorder, out io.Writer, namespace string) *Recorder {
	return &Recorder{next: next, out: out, namespace: namespace}
}

// Record writes the line and hands the event on. That the line could not be
// written is no fault of the event.
func (r *Recorder) Record(ctx context.Context, e metrics.Event) error {
	if line, err := json.Marshal(r.line(e, !r.warm.Swap(true))); err == nil {
		_, _ = r.out.Write(append(line, '\n'))
	}
	return r.next.Record(ctx, e)
}

// The names in CloudWatch. A tenant is never one of the dimensions: each value
// of a dimension is a metric of its own, and is paid for.
const (
	runs       = "Runs"
	duration   = "Duration"
	coldStarts = "ColdStarts"
	outcome    = "Outcome"
	reason     = "Reason"
)

type metadata struct {
	Timestamp         int64 // Unix milliseconds
	CloudWatchMetrics []directive
}

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []metric
}

type metric struct{ Name, Unit string }

// line is the object that CloudWatch reads (CloudWatch user guide, embedded
// metric format specification).
func (r *Recorder) line(e metrics.Event, cold bool) map[string]any {
	count := 0
	if cold {
		count = 1
	}
	return map[string]any{
		"_aws": metadata{Timestamp: e.Time.UnixMilli(), CloudWatchMetrics: []directive{
			{
				Namespace: r.namespace, Dimensions: [][]string{{}, {outcome}, {outcome, reason}},
				Metrics: []metric{{runs, "Count"}, {duration, "Milliseconds"}},
			},
			{Namespace: r.namespace, Dimensions: [][]string{{}}, Metrics: []metric{{coldStarts, "Count"}}},
		}},
		outcome: e.Outcome, reason: e.Reason, runs: 1, duration: e.DurationMS, coldStarts: count,
	}
}
