package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"cloche/internal/metrics"
)

// put puts the events of a batch that are new, all or none. What is wrong with a
// single event is in its entry and does not concern the others.
func (s *Store) put(ctx context.Context, batch []*entry) error {
	if len(batch) == 1 { // a transaction around one statement would double its cost
		return s.putOne(ctx, batch[0], func(stmt *sql.Stmt) *sql.Stmt { return stmt })
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, w := range batch {
		err := s.putOne(ctx, w, func(stmt *sql.Stmt) *sql.Stmt { return tx.StmtContext(ctx, stmt) })
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s *Store) putOne(ctx context.Context, w *entry, in func(*sql.Stmt) *sql.Stmt) error {
	e := w.event
	if e.Time.After(s.now().Add(-s.limits.EventAge)) {
		body, err := json.Marshal(e)
		if err != nil {
			return err
		}
		done, err := in(s.commands.put).ExecContext(ctx, e.ID, e.Time.UnixMilli(), e.Tenant, string(e.Outcome), string(body))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); n == 1 || err != nil {
			return err
		}
	}
	// A repeat of an event that is still there is no error. One that is gone may
	// have been counted before it was forgotten.
	var there bool
	err := in(s.commands.has).QueryRowContext(ctx, e.ID).Scan(&there)
	if err == nil && !there {
		w.err = metrics.ErrExpired
	}
	return err
}
