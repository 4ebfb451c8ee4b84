package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations bring the schema from each version to the next; the version is the
// file's user_version. Never change one that was released: add another.
//
// An event is kept as JSON, so that a new field of it needs no migration, with
// columns for what listings choose by. Times are Unix milliseconds, minutes
// Unix seconds. The names of counters are metrics.Counters' own.
var migrations = []string{
	`CREATE TABLE events (
		id      TEXT NOT NULL UNIQUE,
		time    INTEGER NOT NULL,
		tenant  TEXT NOT NULL,
		outcome TEXT NOT NULL,
		body    TEXT NOT NULL
	);
	CREATE INDEX events_by_time ON events (time, id);
	CREATE INDEX events_by_tenant ON events (tenant, time, id);
	CREATE TABLE totals (
		scope   TEXT NOT NULL,
		counter TEXT NOT NULL,
		value   INTEGER NOT NULL,
		PRIMARY KEY (scope, counter)
	) WITHOUT ROWID;
	CREATE TABLE minutes (
		scope   TEXT NOT NULL,
		minute  INTEGER NOT NULL,
		counter TEXT NOT NULL,
		value   INTEGER NOT NULL,
		PRIMARY KEY (scope, minute, counter)
	) WITHOUT ROWID;
	CREATE INDEX minutes_by_minute ON minutes (minute);`,

	// The horizon: events up to this time may have been counted and forgotten.
	`CREATE TABLE horizon (time INTEGER NOT NULL);
	INSERT INTO horizon VALUES (0);`,

	// Counting: the events up to this row are in totals and minutes.
	`CREATE TABLE counted (row INTEGER NOT NULL);
	INSERT INTO counted SELECT coalesce(max(rowid), 0) FROM events;`,
}

// migrate brings the schema up to date, one transaction for each version.
func migrate(ctx context.Context, db *sql.DB) error {
	for {
		done, err := step(ctx, db)
		if done || err != nil {
			return err
		}
	}
}

// step applies the next migration. The version is read under the write lock,
// so that two processes cannot both apply it.
func step(ctx context.Context, db *sql.DB) (done bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()

	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return false, err
	}
	if err := known(version); err != nil {
		return false, err
	}
	if version == len(migrations) {
		return true, nil
	}
	next := fmt.Sprintf("%s\nPRAGMA user_version = %d", migrations[version], version+1)
	if _, err := tx.ExecContext(ctx, next); err != nil {
		return false, fmt.Errorf("migrate from version %d: %w", version, err)
	}
	return false, tx.Commit()
}

// known refuses a version that this program has no migration to.
func known(version int) error {
	if version < 0 || version > len(migrations) {
		return fmt.Errorf("%w: version %d, up to %d is known", ErrNewer, version, len(migrations))
	}
	return nil
}
