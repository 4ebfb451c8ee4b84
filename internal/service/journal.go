package service

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"cloche/internal/metrics"
)

// recordTimeout bounds how long an answer waits for the store.
const recordTimeout = 5 * time.Second

// Recording says how the record of runs is kept.
type Recording string

// The states of Recording. Failing means that the last event could not be
// recorded; it is in the log. Unknown is what a process says that only shows
// what others record.
const (
	Recorded      Recording = "ok"
	NotRecorded   Recording = "off"
	RecordFailed  Recording = "failing"
	RecordUnknown Recording = "unknown"
)

// Recording is the state of the record at the last run.
func (s *Service) Recording() Recording { return s.journal.state() }

// journal records events, and keeps those in the log that it cannot.
type journal struct {
	recorder Recorder
	overtime time.Duration // see Config.Overtime
	log      *slog.Logger
	failing  atomic.Bool
}

func (j *journal) record(ctx context.Context, event metrics.Event) {
	if j.recorder == nil {
		return
	}
	ctx, cancel := j.bound(ctx)
	defer cancel()
	err := j.recorder.Record(ctx, event)
	j.failing.Store(err != nil)
	if err != nil {
		j.log.LogAttrs(ctx, slog.LevelError, "event not recorded",
			slog.String("cause", err.Error()), slog.Any(metrics.LineKey, event))
	}
}

// bound makes the context of a record. It outlives the caller: who leaves early
// is counted all the same. It does not outlive a process that ends at a known
// time: an event that is not recorded by then must be in the log by then.
func (j *journal) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	last := time.Now().Add(recordTimeout)
	if end, bounded := ctx.Deadline(); bounded && j.overtime > 0 && end.Add(j.overtime).Before(last) {
		last = end.Add(j.overtime)
	}
	return context.WithDeadline(context.WithoutCancel(ctx), last)
}

func (j *journal) state() Recording {
	switch {
	case j.recorder == nil:
		return NotRecorded
	case j.failing.Load():
		return RecordFailed
	}
	return Recorded
}
