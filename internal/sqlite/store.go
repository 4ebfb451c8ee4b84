package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cloche/internal/metrics"
)

// FileName is the name of the data file in its folder. SQLite puts two more
// files, ending in -wal and -shm, beside it while it is open.
const FileName = "cloche.db"

// Limits bound the file. Totals are kept for ever; they do not grow with runs.
// A zero field means its default.
type Limits struct {
	Events    int           // newest events kept, exceeded by at most 512; default 100,000
	EventAge  time.Duration // age at which an event is forgotten; default 30 days
	MinuteAge time.Duration // age at which a minute is forgotten; default 48 h, at least 1 h
}

func (l Limits) withDefaults() Limits {
	if l.Events <= 0 {
		l.Events = 100_000
	}
	if l.EventAge <= 0 {
		l.EventAge = 30 * 24 * time.Hour
	}
	if l.MinuteAge <= 0 {
		l.MinuteAge = 48 * time.Hour
	}
	l.MinuteAge = max(l.MinuteAge, metrics.SeriesMinutes*time.Minute)
	return l
}

// Store is a metrics.Store in a file. Its methods may be called at the same
// time. It must be closed.
type Store struct {
	reader
	limits Limits

	write    *sql.DB // one connection
	commands commands

	queue chan *entry
	done  chan struct{} // closed when the writer has ended
	close func() error

	// The writer's: events put since it counted, and since it pruned last.
	uncounted, unpruned int
	lastPrune           time.Time
}

// Open opens the data file in folder and makes both if they are not there,
// readable by their owner only. A file of an older version is brought up to
// date. The errors to tell apart are ErrNewer, ErrDamaged, ErrReadOnly, ErrFull
// and ErrLocked.
func Open(ctx context.Context, folder string, limits Limits) (*Store, error) {
	return open(ctx, folder, limits, time.Now)
}

func open(ctx context.Context, folder string, limits Limits, now func() time.Time) (*Store, error) {
	path := filepath.Join(folder, FileName)
	s, err := connect(ctx, path, limits, now)
	if err != nil {
		return nil, fmt.Errorf("open data file %s: %w", path, explain(err))
	}
	go s.run()
	return s, nil
}

func connect(ctx context.Context, path string, limits Limits, now func() time.Time) (*Store, error) {
	if err := makeFile(path); err != nil {
		return nil, err
	}
	s := &Store{
		reader: reader{now: now, stop: make(chan struct{})},
		limits: limits.withDefaults(),
		queue:  make(chan *entry), done: make(chan struct{}),
	}
	s.close = sync.OnceValue(s.shut)
	if err := s.prepare(ctx, path); err != nil {
		_ = s.closeAll() // what is wrong is in err
		return nil, err
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context, path string) (err error) {
	if s.write, err = connections(path, writing, 1); err != nil {
		return err
	}
	if err = patiently(ctx, func() error { return migrate(ctx, s.write) }); err != nil {
		return err
	}
	if s.commands, err = prepareCommands(ctx, s.write); err != nil {
		return err
	}
	if s.read, err = connections(path, reading, readers); err != nil {
		return err
	}
	if s.queries, err = prepareQueries(ctx, s.read); err != nil {
		return err
	}
	return s.count(ctx)
}

// makeFile makes the file with its mode before SQLite can make it with a wider
// one; -wal and -shm take its mode over. An existing file is never opened here:
// closing it would drop the locks that this process holds on it
// (https://sqlite.org/howtocorrupt.html, 2.2).
func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return narrow(path)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// narrow takes the file from other users if it was copied here with a wider mode.
func narrow(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return os.Chmod(path, info.Mode().Perm()&0o700)
}

// Close ends the store: what was handed to Record is written, then the WAL is
// folded into the file. Calls after it return ErrClosed; closing again is fine.
func (s *Store) Close() error { return s.close() }

func (s *Store) shut() error {
	close(s.stop)
	<-s.done
	return s.closeAll()
}

// closeAll closes the readers first, because the WAL can be folded in
// completely only when nobody reads.
func (s *Store) closeAll() error {
	var errs []error
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	if s.write != nil {
		_, err := s.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
		errs = append(errs, err, s.write.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close data file: %w", explain(err))
	}
	return nil
}
