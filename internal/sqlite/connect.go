package sqlite

import (
	"database/sql"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// readers is how many snapshots and listings can run at the same time.
const readers = 4

// busyMS bounds the wait for another process's lock, in milliseconds, also for
// callers whose context has no end.
const busyMS = "5000"

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
