package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// readers is how many snapshots and listings can run at the same time.
const readers = 4

// busy bounds the wait for another process's lock, also for callers whose context
// has no end.
const busy = 5 * time.Second

var busyMS = strconv.FormatInt(busy.Milliseconds(), 10)

// The two kinds of connection. A writer takes its lock when its transaction
// begins, so that it never has to give up half-way. Only folding the WAL into
// the file waits for the disk, so that is done every 4000 pages (16 MB).
var (
	writing = url.Values{
		"_busy_timeout": {busyMS},
		"_txlock":       {"immediate"},
		"_pragma": {
			"journal_mode(WAL)", "synchronous(NORMAL)", "wal_autocheckpoint(4000)", "journal_size_limit(16777216)",
			"foreign_keys(1)", "trusted_schema(0)",
		},
	}
	reading = url.Values{
		"_busy_timeout": {busyMS},
		"_pragma":       {"query_only(1)", "foreign_keys(1)", "trusted_schema(0)"},
	}
)

func connections(path string, settings url.Values, most int) (*sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	name := url.URL{Scheme: "file", Path: absolute, RawQuery: settings.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db, nil
}

// patiently repeats what meets a lock that SQLite itself does not wait for: two
// who make a new file a WAL one could wait for each other, so one of them is told
// at once (https://sqlite.org/c3ref/busy_handler.html).
func patiently(ctx context.Context, do func() error) error {
	for end := time.Now().Add(busy); ; {
		err := do()
		if !errors.Is(explain(err), ErrLocked) || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
