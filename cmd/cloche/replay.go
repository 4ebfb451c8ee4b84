//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cloche/internal/config"
	"cloche/internal/dynamo"
	"cloche/internal/metrics"
	"cloche/internal/sqlite"
)

// toldLines is how many lines that cannot be put back are told one by one.
const toldLines = 20

func newReplay() *cobra.Command {
	settings := config.ForRecords()
	var on dynamo.Options
	cmd := &cobra.Command{
		Use:   "replay FILE|-",
		Short: "Put events from a server's log back into its records",
		Long: "Put events from a server's log back into its records. A server logs the event of a\n" +
			"run that it could not record; FILE is such a log, - reads it from standard input.\n" +
			"Lines without an event are skipped, and so is an event that is recorded already:\n" +
			"the same log may be replayed as often as you like, also beside the running server.\n\n" +
			"The status is 1 if an event cannot be put back: it is not one that Cloche makes, or\n" +
			"as old as those that the records have forgotten. Each is told with its line.\n\n" +
			"On AWS the records are a table, and the log is that of the function that executes;\n" +
			"region and credentials are those of the environment.",
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return replay(cmd, settings, on, args[0]) },
	}
	settings.Bind(cmd.Flags())
	cmd.Flags().StringVar(&on.Table, "table", "", "DynamoDB table of the records, in place of --data")
	cmd.Flags().IntVar(&on.Shards, "shards", dynamo.DefaultShards, "the template's TableShards, with --table")
	return cmd
}

func replay(cmd *cobra.Command, settings *config.Loader, on dynamo.Options, file string) error {
	cfg, err := settings.Load()
	if err != nil {
		return usageError{err}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	in, err := openInput(file, cmd.InOrStdin())
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer in.Close()
	store, closeStore, err := target(ctx, cfg.Data, on)
	if err != nil {
		return err
	}
	r := &replayer{store: store, errOut: cmd.ErrOrStderr()}
	err = errors.Join(eachLine(in, func(n int, line []byte) error { return r.put(ctx, n, line) }), closeStore())
	if _, told := fmt.Fprintln(cmd.OutOrStdout(), r); err == nil {
		err = told
	}
	if err == nil && r.invalid+r.expired > 0 {
		return statusError{status: exitFault}
	}
	return err
}

func openInput(file string, in io.Reader) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(in), nil
	}
	return os.Open(file)
}

// target is the table if one is named, and otherwise the folder's records.
func target(ctx context.Context, folder string, on dynamo.Options) (recorder, func() error, error) {
	if on.Table == "" {
		store, err := reopen(ctx, folder)
		if err != nil {
			return nil, nil, err
		}
		return store, store.Close, nil
	}
	on.Patience = time.Minute // nobody waits for an answer
	store, err := dynamo.Open(ctx, on)
	return store, func() error { return nil }, err
}

// reopen opens records that are there and of this version: a folder that was
// mistyped must not become a new one, nor a running server's records change
// their form.
func reopen(ctx context.Context, folder string) (*sqlite.Store, error) {
	view, err := openView(ctx, folder)
	if err != nil {
		return nil, err
	}
	if err := view.Close(); err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, folder, sqlite.Limits{})
}

// recorder counts an event once; service.Recorder says it too, for the service.
type recorder interface {
	Record(ctx context.Context, e metrics.Event) error
}

// replayer puts lines back and counts what came of them.
type replayer struct {
	store  recorder
	errOut io.Writer

	kept, none, invalid, expired int
}

func (r *replayer) String() string {
	return fmt.Sprintf("events put back or already there: %d, invalid: %d, too old: %d; lines without an event: %d",
		r.kept, r.invalid, r.expired, r.none)
}

// put returns an error only when going on is of no use.
func (r *replayer) put(ctx context.Context, n int, line []byte) error {
	event, err := metrics.DecodeLine(line)
	if err == nil {
		err = r.store.Record(ctx, event)
	}
	switch {
	case err == nil:
		r.kept++
	case errors.Is(err, metrics.ErrNoEvent):
		r.none++
	case errors.Is(err, metrics.ErrInvalid):
		r.invalid++
		r.tell(n, err)
	case errors.Is(err, metrics.ErrExpired):
		r.expired++
		r.tell(n, err)
	default:
		return fmt.Errorf("line %d: %w; what is before it is recorded, and replaying it all again is safe", n, err)
	}
	return nil
}

func (r *replayer) tell(n int, err error) {
	switch told := r.invalid + r.expired; {
	case told <= toldLines:
		fmt.Fprintf(r.errOut, "cloche: line %d: %s\n", n, printable(err.Error()))
	case told == toldLines+1:
		fmt.Fprintln(r.errOut, "cloche: further lines like these are only counted")
	}
}

// eachLine visits the lines of a log in bounded memory: of a line that is too
// long to hold an event, visit gets a beginning that is too long as well.
func eachLine(in io.Reader, visit func(n int, line []byte) error) error {
	lines := bufio.NewReaderSize(in, metrics.MaxLine+2)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			if fault := visit(n, bytes.TrimRight(line, "\r\n")); fault != nil {
				return fault
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
	}
}
