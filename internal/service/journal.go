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
	log      *slog.Logger
	failing  atomic.Bool
}

// record outlives the caller: who leaves early is counted all the same.
func (j *journal) record(ctx context.Context, event metrics.Event) {
	if j.recorder == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	err := j.recorder.Record(ctx, event)
	j.failing.Store(err != nil)
	if err != nil {
		j.log.LogAttrs(ctx, slog.LevelError, "event not recorded",
			slog.String("cause", err.Error()), slog.Any(metrics.LineKey, event))
	}
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
