package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// View reads a data file, also while a server writes it, and changes nothing:
// it makes no file, brings none up to date and forgets no event. It must be
// closed.
type View struct {
	reader
	close func() error
}

// OpenView opens the data file in folder for reading. The errors to tell apart
// are those of Open, and ErrMissing and ErrOlder.
func OpenView(ctx context.Context, folder string) (*View, error) {
	path := filepath.Join(folder, FileName)
	v := &View{reader: reader{now: time.Now, stop: make(chan struct{})}}
	v.close = sync.OnceValue(v.shut)
	if err := v.open(ctx, path); err != nil {
		_ = v.close() // what is wrong is in err
		return nil, fmt.Errorf("open data file %s: %w", path, explain(err))
	}
	return v, nil
}

// open looks at the version before it prepares anything that needs its tables.
func (v *View) open(ctx context.Context, path string) (err error) {
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrMissing
	}
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		return fault.Err // the path is said already
	}
	if v.read, err = connections(path, reading, readers); err != nil {
		return err
	}
	var version int
	if err := v.read.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if err := known(version); err != nil {
		return err
	}
	if version < len(migrations) {
		return fmt.Errorf("%w: version %d of %d", ErrOlder, version, len(migrations))
	}
	v.queries, err = prepareQueries(ctx, v.read)
	return err
}

// Close ends the view.
func (v *View) Close() error { return v.close() }

func (v *View) shut() error {
	close(v.stop)
	if v.read == nil {
		return nil
	}
	return v.read.Close()
}
