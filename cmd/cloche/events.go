//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cloche/internal/config"
	"cloche/internal/metrics"
	"cloche/internal/snippet"
	"cloche/internal/sqlite"
)

// mostEvents bounds --limit: more than a store remembers.
const mostEvents = 1_000_000

type eventFlags struct {
	outcome string
	since   time.Duration // zero: as far back as the records go
	limit   int
	follow  bool
	json    bool
	remote  string
}

// lister is whoever has records: a data folder or a server.
type lister interface {
	Events(ctx context.Context, f metrics.Filter) (metrics.Page, error)
}

func newEvents() *cobra.Command {
	settings, flags := config.ForRecords(), &eventFlags{}
	cmd := &cobra.Command{
		Use:   "events",
		Short: "List recorded runs, from a data folder or a server",
		Long: "List recorded runs, oldest first: the newest of those that were asked for. The data\n" +
			"folder may be that of a running server; it is only read.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return events(cmd, settings, flags) },
	}
	settings.Bind(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&flags.outcome, "outcome", "", "only OK, BLOCKED, TIMEOUT or ERROR")
	f.DurationVar(&flags.since, "since", 0, "only runs that ended in this time, such as 90m")
	f.IntVar(&flags.limit, "limit", metrics.DefaultLimit, fmt.Sprintf("how many of the newest, 1 to %d", mostEvents))
	f.BoolVar(&flags.follow, "follow", false, "go on with new ones as they come, until SIGINT or SIGTERM")
	f.BoolVar(&flags.json, "json", false, "print each as a line of JSON instead")
	f.StringVar(&flags.remote, "remote", "", remoteUsage)
	return cmd
}

func events(cmd *cobra.Command, settings *config.Loader, flags *eventFlags) error {
	filter, err := flags.filter(time.Now())
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	from, closeRecords, err := openRecords(ctx, cmd, settings, flags.remote)
	if err != nil {
		return err
	}
	defer closeRecords()
	f := &follower{from: from, filter: filter}
	list, err := f.first(ctx, flags.limit)
	for err == nil {
		if err = flags.print(cmd.OutOrStdout(), list); err != nil || !flags.follow {
			return err
		}
		list, err = f.next(ctx, cmd.ErrOrStderr())
	}
	if ctx.Err() != nil && flags.follow {
		return nil // told to stop, which is how following ends
	}
	return err
}

func (f *eventFlags) filter(now time.Time) (metrics.Filter, error) {
	filter := metrics.Filter{Outcome: snippet.Outcome(strings.ToUpper(f.outcome))}
	var faults []error
	if f.outcome != "" && !slices.Contains(snippet.Outcomes(), filter.Outcome) {
		faults = append(faults, flagFault("outcome", f.outcome, "is unknown; write OK, BLOCKED, TIMEOUT or ERROR"))
	}
	if f.since < 0 {
		faults = append(faults, flagFault("since", f.since, "is negative; write a duration such as 90m"))
	}
	faults = append(faults, numberFault("limit", f.limit, 1, mostEvents))
	if f.since > 0 {
		filter.Since = now.Add(-f.since)
	}
	if err := errors.Join(faults...); err != nil {
		return filter, usageError{err}
	}
	return filter, nil
}

// openRecords finds who has the records. The function that it returns gives
// them up.
func openRecords(ctx context.Context, cmd *cobra.Command, settings *config.Loader, url string) (lister, func(), error) {
	if url != "" {
		if cmd.Flags().Changed("data") {
			return nil, nil, usageError{errors.New("--data and --remote both say where the records are; leave one of them out")}
		}
		server, err := newRemote(url)
		return server, func() {}, err
	}
	cfg, err := settings.Load()
	if err != nil {
		return nil, nil, usageError{err}
	}
	view, err := openView(ctx, cfg.Data)
	if err != nil {
		return nil, nil, err
	}
	return view, func() { view.Close() }, nil
}

// openView says what to do where the folder is not that of a server of ours.
func openView(ctx context.Context, folder string) (*sqlite.View, error) {
	view, err := sqlite.OpenView(ctx, folder)
	switch {
	case errors.Is(err, sqlite.ErrMissing):
		err = fmt.Errorf("%w; name that folder with --data or CLOCHE_DATA", err)
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w; records are for their server's user alone, so do this as that user", err)
	}
	return view, err
}

func (f *eventFlags) print(out io.Writer, list []metrics.Event) error {
	for _, e := range list {
		line := eventLine(e)
		if f.json {
			text, err := json.Marshal(e)
			if err != nil {
				return fmt.Errorf("encode event %s: %w", e.ID, err)
			}
			line = string(text)
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// eventLine has what every event has in columns, and the rest by name.
func eventLine(e metrics.Event) string {
	line := fmt.Sprintf("%s  %-7s  %-16s  %9.1f ms  %s", e.Time.UTC().Format("2006-01-02T15:04:05.000Z"),
		e.Outcome, e.Reason, e.DurationMS, e.ID)
	for _, more := range []struct {
		name, value string
	}{{"tenant", e.Tenant}, {"request_id", e.RequestID}, {"blocked", e.Blocked}} {
		if more.value != "" && more.value != "default" {
			line += fmt.Sprintf("  %s=%s", more.name, more.value)
		}
	}
	if e.Demo {
		line += "  demo"
	}
	return line
}
