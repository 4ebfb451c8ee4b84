package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"cloche/internal/metrics"
)

// transact puts the new events of a batch and adds what they add, all or
// nothing. What is wrong with a single event is in its entry and does not
// concern the others.
func (s *Store) transact(ctx context.Context, batch []*entry) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()

	sums, err := s.put(ctx, tx, batch)
	if err != nil {
		return err
	}
	if err := s.add(ctx, tx, sums); err != nil {
		return err
	}
	pruned, err := s.pruneIfDue(ctx, tx, sums.events)
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.pruneDone(pruned, sums.events)
	return nil
}

// sums collects what a batch adds, so that a counter is written once for all of
// its events.
type sums struct {
	events  int
	totals  map[string]metrics.Counters // by scope
	minutes map[minute]metrics.Counters
}

type minute struct {
	scope string
	unix  int64
}

func (s *Store) put(ctx context.Context, tx *sql.Tx, batch []*entry) (sums, error) {
	sum := sums{totals: map[string]metrics.Counters{}, minutes: map[minute]metrics.Counters{}}
	horizon, err := s.horizon(ctx, tx)
	if err != nil {
		return sum, err
	}
	for _, w := range batch {
		isNew, err := s.putOne(ctx, tx, w, horizon)
		if err != nil {
			return sum, err
		}
		if isNew {
			sum.add(w.delta)
		}
	}
	return sum, nil
}

// putOne reports whether the event is new and to be counted.
func (s *Store) putOne(ctx context.Context, tx *sql.Tx, w *entry, horizon int64) (bool, error) {
	e := w.event
	if e.Time.UnixMilli() <= horizon {
		return false, s.putOld(ctx, tx, w)
	}
	body, err := json.Marshal(e)
	if err != nil {
		return false, err
	}
	done, err := tx.StmtContext(ctx, s.commands.put).ExecContext(ctx,
		e.ID, e.Time.UnixMilli(), e.Tenant, string(e.Outcome), string(body))
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n == 1, err
}

// putOld tells a repeat of an event that is still there, which is no error,
// from one that may be a repeat.
func (s *Store) putOld(ctx context.Context, tx *sql.Tx, w *entry) error {
	var there bool
	err := tx.StmtContext(ctx, s.commands.has).QueryRowContext(ctx, w.event.ID).Scan(&there)
	if err == nil && !there {
		w.err = metrics.ErrExpired
	}
	return err
}

func (s *sums) add(d metrics.Delta) {
	s.events++
	for _, scope := range d.Scopes {
		addTo(s.totals, scope, d.Totals)
		addTo(s.minutes, minute{scope, d.Minute.Unix()}, d.Minutes)
	}
}

func addTo[K comparable](sums map[K]metrics.Counters, key K, c metrics.Counters) {
	if sums[key] == nil {
		sums[key] = metrics.Counters{}
	}
	sums[key].Add(c)
}

func (s *Store) add(ctx context.Context, tx *sql.Tx, sum sums) error {
	total := tx.StmtContext(ctx, s.commands.addTotal)
	for scope, counters := range sum.totals {
		for name, n := range counters {
			if _, err := total.ExecContext(ctx, scope, name, n); err != nil {
				return err
			}
		}
	}
	series := tx.StmtContext(ctx, s.commands.addMinute)
	for m, counters := range sum.minutes {
		for name, n := range counters {
			if _, err := series.ExecContext(ctx, m.scope, m.unix, name, n); err != nil {
				return err
			}
		}
	}
	return nil
}
