package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// statements are prepared once.
type statements struct {
	horizon, has, put, addTotal, addMinute *sql.Stmt // the writer's
	totals, minutes, listAll, listTenant   *sql.Stmt // the readers'
}

const (
	selectTotals  = `SELECT counter, value FROM totals WHERE scope = ?`
	selectMinutes = `SELECT minute, counter, value FROM minutes WHERE scope = ? AND minute >= ?`
)

func prepare(ctx context.Context, write, read *sql.DB) (statements, error) {
	var s statements
	for _, p := range []struct {
		stmt **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&s.horizon, write, `SELECT time FROM horizon`},
		{&s.has, write, `SELECT EXISTS (SELECT 1 FROM events WHERE id = ?)`},
		{&s.put, write, `INSERT INTO events (id, time, tenant, outcome, body) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (id) DO NOTHING`},
		{&s.addTotal, write, `INSERT INTO totals (scope, counter, value) VALUES (?, ?, ?)
			ON CONFLICT (scope, counter) DO UPDATE SET value = value + excluded.value`},
		{&s.addMinute, write, `INSERT INTO minutes (scope, minute, counter, value) VALUES (?, ?, ?, ?)
			ON CONFLICT (scope, minute, counter) DO UPDATE SET value = value + excluded.value`},
		{&s.totals, read, selectTotals},
		{&s.minutes, read, selectMinutes},
		{&s.listAll, read, listing("")},
		{&s.listTenant, read, listing("tenant = ?6 AND")},
	} {
		stmt, err := p.db.PrepareContext(ctx, p.text)
		if err != nil {
			return s, fmt.Errorf("prepare %q: %w", p.text, err)
		}
		*p.stmt = stmt
	}
	return s, nil
}

// listing is in the order of metrics.Position: newest first, then the greater
// id. Both forms walk an index and stop at their limit.
func listing(scope string) string {
	return `SELECT body FROM events WHERE ` + scope + `
		(time, id) < (?1, ?2) AND time >= ?3 AND (?4 = '' OR outcome = ?4)
		ORDER BY time DESC, id DESC LIMIT ?5`
}
