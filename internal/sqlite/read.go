package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"cloche/internal/metrics"
)

// reader is the half of a Store that only reads; a View has nothing else.
type reader struct {
	now     func() time.Time
	read    *sql.DB
	queries queries
	stop    chan struct{} // closed when the file is being closed
}

// Snapshot sums up a scope, see metrics.Reader. All of it is of one moment.
func (r *reader) Snapshot(ctx context.Context, scope string) (metrics.Snapshot, error) {
	state, err := r.state(ctx, scope)
	if err != nil {
		return metrics.Snapshot{}, fmt.Errorf("take snapshot: %w", r.explainRead(err))
	}
	return state.Snapshot(), nil
}

func (r *reader) state(ctx context.Context, scope string) (metrics.State, error) {
	state := metrics.State{
		Scope: scope, Now: r.now(),
		Totals: metrics.Counters{}, Minutes: map[int64]metrics.Counters{},
	}
	tx, err := r.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return state, err
	}
	defer tx.Rollback()
	if err := r.readTotals(ctx, tx, &state); err != nil {
		return state, err
	}
	if err := r.readMinutes(ctx, tx, &state); err != nil {
		return state, err
	}
	if err := r.readUncounted(ctx, tx, &state); err != nil {
		return state, err
	}
	newest := metrics.Filter{Scope: scope, Limit: metrics.RecentEvents}
	state.Recent, err = r.list(ctx, tx, newest, metrics.Start)
	return state, err
}

func (r *reader) readTotals(ctx context.Context, tx *sql.Tx, state *metrics.State) error {
	rows, err := tx.StmtContext(ctx, r.queries.totals).QueryContext(ctx, state.Scope)
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

func (r *reader) readMinutes(ctx context.Context, tx *sql.Tx, state *metrics.State) error {
	start := metrics.SeriesStart(state.Now).Unix()
	rows, err := tx.StmtContext(ctx, r.queries.minutes).QueryContext(ctx, state.Scope, start)
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

// readUncounted adds what events add that are not in the sums yet.
func (r *reader) readUncounted(ctx context.Context, tx *sql.Tx, state *metrics.State) error {
	start := metrics.SeriesStart(state.Now)
	_, err := eachUncounted(ctx, tx.StmtContext(ctx, r.queries.uncounted), func(d metrics.Delta) {
		if !slices.Contains(d.Scopes, state.Scope) {
			return
		}
		state.Totals.Add(d.Totals)
		if !d.Minute.Before(start) {
			addTo(state.Minutes, d.Minute.Unix(), d.Minutes)
		}
	})
	return err
}

// Events lists what the file still holds, see metrics.Reader. A rare outcome
// can make it read all of a scope's events.
func (r *reader) Events(ctx context.Context, f metrics.Filter) (metrics.Page, error) {
	f, after, err := f.Check()
	if err != nil {
		return metrics.Page{}, err
	}
	tx, err := r.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return metrics.Page{}, fmt.Errorf("list events: %w", r.explainRead(err))
	}
	defer tx.Rollback()
	oneMore := f // tells whether there is a next page
	oneMore.Limit++
	found, err := r.list(ctx, tx, oneMore, after)
	if err != nil {
		return metrics.Page{}, fmt.Errorf("list events: %w", r.explainRead(err))
	}
	return f.PageOf(found), nil
}

func (r *reader) list(ctx context.Context, tx *sql.Tx, f metrics.Filter, after metrics.Position) ([]metrics.Event, error) {
	since := int64(math.MinInt64)
	if !f.Since.IsZero() {
		since = f.Since.UnixMilli()
	}
	stmt, args := r.queries.listAll, []any{after.Millis, after.ID, since, string(f.Outcome), f.Limit}
	if f.Scope != metrics.Everyone {
		stmt, args = r.queries.listTenant, append(args, f.Scope)
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

// decode reads the columns before the event's own, and that.
func decode(rows *sql.Rows, before ...any) (metrics.Event, error) {
	var body []byte
	if err := rows.Scan(append(before, &body)...); err != nil {
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
func (r *reader) explainRead(err error) error {
	select {
	case <-r.stop:
		return fmt.Errorf("%w: %w", ErrClosed, err)
	default:
		return explain(err)
	}
}
