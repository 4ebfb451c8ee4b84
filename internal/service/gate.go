package service

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cloche/internal/metrics"
)

// BusyError means that a request got no slot in time. Nothing ran.
type BusyError struct {
	RetryAfter time.Duration // when a slot is likely; whole seconds, at least one
	Waited     time.Duration // zero if the waiting room was full
}

// Error says which of the two limits was met.
func (e *BusyError) Error() string {
	if e.Waited == 0 {
		return "the waiting room is full"
	}
	return fmt.Sprintf("no slot got free within %v", e.Waited)
}

// maxRetryAfter bounds the advice: an estimate is not worth more than this.
const maxRetryAfter = 30 * time.Second

// gate lets a number of runs in at a time and keeps a bounded number waiting.
// Who waits longer goes first: a channel serves its blocked senders in order.
type gate struct {
	slots chan struct{}
	room  int
	wait  time.Duration

	mu       sync.Mutex
	waiting  int
	refused  int64
	waited   time.Duration // of all that were let in
	typical  time.Duration // a moving average of how long a slot is held
	inFlight int
}

func newGate(slots, room int, wait time.Duration) *gate {
	return &gate{slots: make(chan struct{}, slots), room: room, wait: wait, typical: time.Second}
}

// enter takes a slot and says how long that took. Each success needs one leave.
func (g *gate) enter(ctx context.Context) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	select {
	case g.slots <- struct{}{}:
		g.admit(0)
		return 0, nil
	default:
	}
	if err := g.sit(); err != nil {
		return 0, err
	}
	defer g.stand()
	return g.await(ctx)
}

func (g *gate) await(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case g.slots <- struct{}{}:
		waited := time.Since(began)
		g.admit(waited)
		return waited, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-timer.C:
		return 0, g.refuse(g.wait)
	}
}

// leave gives the slot back after it was held for so long.
func (g *gate) leave(held time.Duration) {
	g.mu.Lock()
	g.inFlight--
	g.typical += (held - g.typical) / 8
	g.mu.Unlock()
	<-g.slots
}

func (g *gate) admit(waited time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight++
	g.waited += waited
}

func (g *gate) sit() error {
	g.mu.Lock()
	full := g.waiting >= g.room
	if !full {
		g.waiting++
	}
	g.mu.Unlock()
	if full {
		return g.refuse(0)
	}
	return nil
}

func (g *gate) stand() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
}

// refuse counts, and guesses when those that wait now will have been served.
func (g *gate) refuse(waited time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused++
	guess := g.typical * time.Duration(g.waiting+1) / time.Duration(cap(g.slots))
	seconds := (guess + time.Second - 1).Truncate(time.Second)
	return &BusyError{RetryAfter: min(max(seconds, time.Second), maxRetryAfter), Waited: waited}
}

func (g *gate) load() metrics.Load {
	g.mu.Lock()
	defer g.mu.Unlock()
	return metrics.Load{InFlight: g.inFlight, Waiting: g.waiting, Refused: g.refused, QueueWait: g.waited}
}
