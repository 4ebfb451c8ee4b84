package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Pruning takes its turn with a count after every pruneEvery new events, and at
// least once an hour while events come, so that its cost is spread. The file keeps its size
// and uses the room again.
const (
	pruneEvery = 256
	pruneAfter = time.Hour
)

func (s *Store) longUnpruned() bool { return s.now().Sub(s.lastPrune) >= pruneAfter }

// prune forgets the events beyond Limits and remembers up to when it forgot,
// because a repeat of those can no longer be told from a new event.
func (s *Store) prune(ctx context.Context, tx *sql.Tx) error {
	oldest, err := s.beyond(ctx, tx)
	if err != nil {
		return err
	}
	oldest = max(oldest, s.now().Add(-s.limits.EventAge).UnixMilli())
	if _, err := tx.ExecContext(ctx, `UPDATE horizon SET time = max(time, ?)`, oldest); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM events WHERE time <= ?`, oldest); err != nil {
		return err
	}
	// The next row has the greatest number of those that are left, and one.
	if _, err := tx.ExecContext(ctx, `UPDATE counted SET row = (SELECT coalesce(max(rowid), 0) FROM events)`); err != nil {
		return err
	}
	before := s.now().Add(-s.limits.MinuteAge).Unix()
	_, err = tx.ExecContext(ctx, `DELETE FROM minutes WHERE minute < ?`, before)
	return err
}

// beyond is the time of the newest event that is one too many; 0 if none is.
// Those of the same millisecond go with it.
func (s *Store) beyond(ctx context.Context, tx *sql.Tx) (int64, error) {
	var count int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM events`).Scan(&count); err != nil {
		return 0, err
	}
	if count <= s.limits.Events {
		return 0, nil
	}
	var oldest int64
	err := tx.QueryRowContext(ctx, `SELECT time FROM events ORDER BY time, id LIMIT 1 OFFSET ?`,
		count-s.limits.Events-1).Scan(&oldest)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return oldest, err
}
