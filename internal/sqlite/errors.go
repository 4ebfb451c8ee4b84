package sqlite

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// What can be wrong with the data file, in words for the person who runs Cloche.
var (
	ErrClosed   = errors.New("data file is closed")
	ErrNewer    = errors.New("data file is from a newer Cloche: use that version or another data folder")
	ErrOlder    = errors.New("data file is from an older Cloche: start the server once, which brings it up to date")
	ErrMissing  = errors.New("there are no records: a server makes them in its data folder")
	ErrDamaged  = errors.New("data file is damaged or not Cloche's: move it away or restore a copy")
	ErrReadOnly = errors.New("data file cannot be written: check the owner and mode of file and folder")
	ErrFull     = errors.New("disk is full")
	ErrLocked   = errors.New("data file is locked by another process")
	ErrDisk     = errors.New("disk does not read or write the data file")
)

// meaning goes by the primary result code (https://sqlite.org/rescode.html).
var meaning = map[int]error{
	codes.SQLITE_NOTADB:   ErrDamaged,
	codes.SQLITE_CORRUPT:  ErrDamaged,
	codes.SQLITE_READONLY: ErrReadOnly,
	codes.SQLITE_PERM:     ErrReadOnly,
	codes.SQLITE_CANTOPEN: ErrReadOnly,
	codes.SQLITE_FULL:     ErrFull,
	codes.SQLITE_BUSY:     ErrLocked,
	codes.SQLITE_LOCKED:   ErrLocked,
	codes.SQLITE_IOERR:    ErrDisk,
}

// explain puts what the error means before what SQLite said. Other errors pass
// through, contexts' among them.
func explain(err error) error {
	var fault *sqlite.Error
	if !errors.As(err, &fault) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if known, ok := meaning[fault.Code()&0xff]; ok {
		return fmt.Errorf("%w: %w", known, err)
	}
	return err
}
