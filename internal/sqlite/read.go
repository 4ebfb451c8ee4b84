package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"

	"cloche/internal/metrics"
)

// Snapshot sums up a scope, see metrics.Reader. All of it is of one moment.
func (s *Store) Snapshot(ctx context.Context, scope string) (metrics.Snapshot, error) {
	state, err := s.state(ctx, scope)
	if err != nil {
		return metrics.Snapshot{}, fmt.Errorf("take snapshot: %w", s.explainRead(err))
	}
	return state.Snapshot(), nil
}

func (s *Store) state(ctx context.Context, scope string) (metrics.State, error) {
	state := metrics.State{
		Scope: scope, Now: s.now(),
		Totals: metrics.Counters{}, Minutes: map[int64]metrics.Counters{},
	}
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return state, err
	}
	defer tx.Rollback()
	if err := s.readTotals(ctx, tx, &state); err != nil {
		return state, err
	}
	if err := s.readMinutes(ctx, tx, &state); err != nil {
		return state, err
	}
	newest := metrics.Filter{Scope: scope, Limit: metrics.RecentEvents}
	state.Recent, err = s.list(ctx, tx, newest, metrics.Start)
	return state, err
}

func (s *Store) readTotals(ctx context.Context, tx *sql.Tx, state *metrics.State) error {
	rows, err := tx.StmtContext(ctx, s.stmts.totals).QueryContext(ctx, state.Scope)
	if err != nil {
		return err
	}
	return each(rows, func() error {
		var name string
		var n int64
		err := rows.Scan(&name, &n)
		state.Totals[name] += n
		return err
	})
}

func (s *Store) readMinutes(ctx context.Context, tx *sql.Tx, state *metrics.State) error {
	start := metrics.SeriesStart(state.Now).Unix()
	rows, err := tx.StmtContext(ctx, s.stmts.minutes).QueryContext(ctx, state.Scope, start)
	if err != nil {
		return err
	}
	return each(rows, func() error {
		var at, n int64
		var name string
		err := rows.Scan(&at, &name, &n)
		addTo(state.Minutes, at, metrics.Counters{name: n})
		return err
	})
}

// Events lists what the file still holds, see metrics.Reader. A rare outcome
// can make it read all of a scope's events.
func (s *Store) Events(ctx context.Context, f metrics.Filter) (metrics.Page, error) {
	f, after, err := f.Check()
	if err != nil {
		return metrics.Page{}, err
	}
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return metrics.Page{}, fmt.Errorf("list events: %w", s.explainRead(err))
	}
	defer tx.Rollback()
	oneMore := f // tells whether there is a next page
	oneMore.Limit++
	found, err := s.list(ctx, tx, oneMore, after)
	if err != nil {
		return metrics.Page{}, fmt.Errorf("list events: %w", s.explainRead(err))
	}
	return f.PageOf(found), nil
}

func (s *Store) list(ctx context.Context, tx *sql.Tx, f metrics.Filter, after metrics.Position) ([]metrics.Event, error) {
	since := int64(math.MinInt64)
	if !f.Since.IsZero() {
		since = f.Since.UnixMilli()
	}
	stmt, args := s.stmts.listAll, []any{after.Millis, after.ID, since, string(f.Outcome), f.Limit}
	if f.Scope != metrics.Everyone {
		stmt, args = s.stmts.listTenant, append(args, f.Scope)
	}
	rows, err := tx.StmtContext(ctx, stmt).QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	var events []metrics.Event
	err = each(rows, func() error {
		e, err := decode(rows)
		events = append(events, e)
		return err
	})
	return events, err
}

func decode(rows *sql.Rows) (metrics.Event, error) {
	var body []byte
	if err := rows.Scan(&body); err != nil {
		return metrics.Event{}, err
	}
	var e metrics.Event
	if err := json.Unmarshal(body, &e); err != nil {
		return e, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return e, nil
}

// each calls scan for every row and closes the rows.
func each(rows *sql.Rows, scan func() error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// explainRead is explain for the pool of readers, which Close closes under
// those who still wait for a connection.
func (s *Store) explainRead(err error) error {
	select {
	case <-s.stop:
		return fmt.Errorf("%w: %w", ErrClosed, err)
	default:
		return explain(err)
	}
}
