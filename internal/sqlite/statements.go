package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// commands and queries are prepared once: what the writer does, and what readers ask.
type (
	commands struct{ has, put, uncounted, addTotal, addMinute, mark *sql.Stmt }
	queries  struct{ totals, minutes, uncounted, listAll, listTenant *sql.Stmt }
)

const (
	selectTotals  = `SELECT counter, value FROM totals WHERE scope = ?`
	selectMinutes = `SELECT minute, counter, value FROM minutes WHERE scope = ? AND minute >= ?`
	// In the order of rowid, so that the last one is the greatest.
	selectUncounted = `SELECT rowid, body FROM events WHERE rowid > (SELECT row FROM counted) ORDER BY rowid`
)

type statement struct {
	place **sql.Stmt
	text  string
}

func prepareCommands(ctx context.Context, db *sql.DB) (c commands, err error) {
	err = prepare(ctx, db,
		statement{&c.has, `SELECT EXISTS (SELECT 1 FROM events WHERE id = ?)`},
		// Another process may have moved the horizon.
		statement{&c.put, `INSERT INTO events (id, time, tenant, outcome, body)
			SELECT ?1, ?2, ?3, ?4, ?5 WHERE ?2 > (SELECT time FROM horizon) ON CONFLICT (id) DO NOTHING`},
		statement{&c.uncounted, selectUncounted},
		statement{&c.addTotal, `INSERT INTO totals (scope, counter, value) VALUES (?, ?, ?)
			ON CONFLICT (scope, counter) DO UPDATE SET value = value + excluded.value`},
		statement{&c.addMinute, `INSERT INTO minutes (scope, minute, counter, value) VALUES (?, ?, ?, ?)
			ON CONFLICT (scope, minute, counter) DO UPDATE SET value = value + excluded.value`},
		statement{&c.mark, `UPDATE counted SET row = ?`},
	)
	return c, err
}

func prepareQueries(ctx context.Context, db *sql.DB) (q queries, err error) {
	err = prepare(ctx, db,
		statement{&q.totals, selectTotals},
		statement{&q.minutes, selectMinutes},
		statement{&q.uncounted, selectUncounted},
		statement{&q.listAll, listing("")},
		statement{&q.listTenant, listing("tenant = ?6 AND")},
	)
	return q, err
}

func prepare(ctx context.Context, db *sql.DB, statements ...statement) error {
	for _, s := range statements {
		stmt, err := db.PrepareContext(ctx, s.text)
		if err != nil {
			return fmt.Errorf("prepare %q: %w", s.text, err)
		}
		*s.place = stmt
	}
	return nil
}

// listing is in the order of metrics.Position: newest first, then the greater
// id. Both forms walk an index and stop at their limit.
func listing(scope string) string {
	return `SELECT body FROM events WHERE ` + scope + `
		(time, id) < (?1, ?2) AND time >= ?3 AND (?4 = '' OR outcome = ?4)
		ORDER BY time DESC, id DESC LIMIT ?5`
}
