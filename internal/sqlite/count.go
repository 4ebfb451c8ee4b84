package sqlite

import (
	"context"
	"database/sql"
	"time"

	"cloche/internal/metrics"
)

// An event is answered for when it is in the file. What it adds to the sums is
// written later and for many at a time, since that is most of the work; until
// then whoever reads the sums adds it. So they are right at all times, and after
// a process that was killed.
const (
	countEvery = 256                    // events that are not in the sums, at most
	countRest  = 250 * time.Millisecond // without an event, after which there is time
)

// count brings the sums up to date, all or nothing, and prunes if that is due:
// what is forgotten must have been counted.
func (s *Store) count(ctx context.Context) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := s.countIn(ctx, tx); err != nil {
		return err
	}
	due := s.unpruned >= pruneEvery || s.longUnpruned()
	if due {
		if err := s.prune(ctx, tx); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.uncounted = 0
	if due {
		s.unpruned, s.lastPrune = 0, s.now()
	}
	return nil
}

func (s *Store) countIn(ctx context.Context, tx *sql.Tx) error {
	sum := sums{totals: map[string]metrics.Counters{}, minutes: map[minute]metrics.Counters{}}
	last, err := eachUncounted(ctx, tx.StmtContext(ctx, s.commands.uncounted), sum.add)
	if err != nil || last == 0 {
		return err
	}
	if err := s.add(ctx, tx, sum); err != nil {
		return err
	}
	_, err = tx.StmtContext(ctx, s.commands.mark).ExecContext(ctx, last)
	return err
}

// eachUncounted calls add with what each event adds that is not in the sums. It
// returns the row of the last one, 0 if there is none.
func eachUncounted(ctx context.Context, stmt *sql.Stmt, add func(metrics.Delta)) (last int64, err error) {
	rows, err := stmt.QueryContext(ctx)
	if err != nil {
		return 0, err
	}
	err = each(rows, func() error {
		e, err := decode(rows, &last)
		if err == nil {
			add(metrics.DeltaOf(e))
		}
		return err
	})
	return last, err
}

// sums collects what events add, so that a counter is written once for all of them.
type sums struct {
	totals  map[string]metrics.Counters // by scope
	minutes map[minute]metrics.Counters
}

type minute struct {
	scope string
	unix  int64
}

func (s *sums) add(d metrics.Delta) {
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
