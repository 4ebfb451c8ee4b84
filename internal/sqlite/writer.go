package sqlite

import (
	"context"
	"fmt"
	"time"

	"cloche/internal/metrics"
)

// maxBatch bounds a transaction, and so how long the first of its callers waits
// for the last.
const maxBatch = 256

// entry is an event on its way to the file. The writer answers it exactly once.
type entry struct {
	event metrics.Event
	err   error
	done  chan error
}

// Record counts an event once, see metrics.Recorder. It returns nil when the
// transaction with the event is committed. When ctx ends first, the event may
// still be counted.
func (s *Store) Record(ctx context.Context, e metrics.Event) error {
	e, err := metrics.Admit(e, s.now())
	if err != nil {
		return err
	}
	if err := s.submit(ctx, e); err != nil {
		return fmt.Errorf("record event %s: %w", e.ID, explain(err))
	}
	return nil
}

func (s *Store) submit(ctx context.Context, e metrics.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &entry{event: e, done: make(chan error, 1)}
	select {
	case s.queue <- w:
	case <-s.stop:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run is the writer. Whoever it took from the queue is answered; the queue has
// no room of its own, so nobody is left in it at the end.
func (s *Store) run() {
	defer close(s.done)
	var quiet <-chan time.Time
	for {
		select {
		case first := <-s.queue:
			s.commit(s.gather(first))
			quiet = time.After(countRest)
		case <-quiet:
			if quiet = nil; s.count(context.Background()) != nil { // readers count meanwhile; Record says what lasts
				quiet = time.After(countRest)
			}
		case <-s.stop:
			_ = s.count(context.Background()) // the next one who opens the file does it too
			return
		}
	}
}

// gather takes those that came while the last transaction ran. It waits for
// nobody: a lone event is not held up.
func (s *Store) gather(first *entry) []*entry {
	batch := []*entry{first}
	for len(batch) < maxBatch {
		select {
		case w := <-s.queue:
			batch = append(batch, w)
		default:
			return batch
		}
	}
	return batch
}

// commit runs under no caller's context, because it works for several.
func (s *Store) commit(batch []*entry) {
	err := s.transact(context.Background(), batch)
	for _, w := range batch {
		if err != nil {
			w.err = err
		}
		w.done <- w.err
	}
}

// transact puts a batch, and counts when that is due. When only the count fails
// its events are told as not recorded, which is safe: repeats change nothing.
func (s *Store) transact(ctx context.Context, batch []*entry) error {
	if err := s.put(ctx, batch); err != nil {
		return err
	}
	s.uncounted += len(batch)
	s.unpruned += len(batch)
	if s.uncounted >= countEvery || s.longUnpruned() {
		return s.count(ctx)
	}
	return nil
}
