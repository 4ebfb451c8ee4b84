//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cloche/internal/api"
	"cloche/internal/bench"
	"cloche/internal/config"
	"cloche/internal/sandbox"
	"cloche/internal/service"
	"cloche/internal/snippet"
	"cloche/internal/sqlite"
)

// Bounds on a measurement.
const (
	mostRuns    = 1_000_000
	mostCallers = 1024 // as many as a server may run at one time
	benchWait   = 5 * time.Minute
)

// benchOptions are what a person chooses about a measurement.
type benchOptions struct {
	runs    int
	callers []int
	only    []string
	json    string
}

func newBench() *cobra.Command {
	settings := config.ForRun(sandbox.LayerNames()...)
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure this machine against the bare interpreter",
		Long: "Measure snippets in Cloche, in-process and over HTTP, interleaved with the bare\n" +
			"interpreter that the template runs. Quote ratios of medians, from a quiet machine.\n\n" +
			"The snippets: " + strings.Join(workloadNames(), ", ") + ".",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings.Load()
			if err := errors.Join(err, o.check()); err != nil {
				return usageError{err}
			}
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if err := measure(ctx, cfg, o, cmd.OutOrStdout(), cmd.ErrOrStderr()); ctx.Err() == nil {
				return err
			}
			return errInterrupted
		},
	}
	settings.Bind(cmd.Flags())
	cmd.Flags().IntVar(&o.runs, "runs", 300, fmt.Sprintf("runs of each snippet, 1 to %d", mostRuns))
	cmd.Flags().IntSliceVar(&o.callers, "callers", []int{1, 4, 16}, fmt.Sprintf("callers side by side, each 1 to %d", mostCallers))
	cmd.Flags().StringSliceVar(&o.only, "only", nil, "names of the snippets to measure, with commas between; all without it")
	cmd.Flags().StringVar(&o.json, "out", "", "file to write the figures to, as JSON")
	return cmd
}

// check returns all faults.
func (o benchOptions) check() error {
	faults := []error{numberFault("runs", o.runs, 1, mostRuns)}
	for _, n := range o.callers {
		faults = append(faults, numberFault("callers", n, 1, mostCallers))
	}
	for _, name := range o.only {
		if known := workloadNames(); !slices.Contains(known, name) {
			faults = append(faults, flagFault("only", name, "is unknown; write some of "+strings.Join(known, ", ")))
		}
	}
	return errors.Join(faults...)
}

func workloadNames() (names []string) {
	for _, w := range bench.Workloads(snippet.DefaultLimits()) {
		names = append(names, w.Name)
	}
	return names
}

// writable makes sure, before minutes are spent, that the figures can be kept. A
// file that is there keeps its content until then; the returned function takes a
// new one away if it stayed empty.
func writable(file string) (tidy func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the file for --out: %w", err)
	}
	return func() {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			_ = os.Remove(file)
		}
	}, f.Close()
}

// measure writes what was measured, also when it ends early.
func measure(ctx context.Context, cfg config.Config, o benchOptions, out, errOut io.Writer) error {
	tidy, err := writable(o.json)
	if err != nil {
		return err
	}
	defer tidy()
	lines, err := compare(ctx, cfg, o, errOut)
	if len(lines) == 0 {
		return cmp.Or(err, errors.New("nothing was measured"))
	}
	return errors.Join(err, bench.Write(out, lines), keepFigures(o.json, lines))
}

func keepFigures(file string, lines []bench.Line) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(lines, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// compare returns a line for each measurement, with an error those that were done.
func compare(ctx context.Context, cfg config.Config, o benchOptions, errOut io.Writer) (lines []bench.Line, err error) {
	// Before the sandbox, which may clear the temporary folder of what came after it.
	folder, err := os.MkdirTemp("", "cloche-bench-records-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	box, err := sandbox.New(serverSandbox(cfg, config.DefaultPool(), config.DefaultConcurrency(), faultLog(errOut)))
	if err != nil {
		return nil, err
	}
	defer box.Close()
	server, store, err := benchServer(ctx, box, limits(cfg), folder)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	defer server.Close()
	python := box.Runtime().Executable
	client, err := newRemote(server.URL)
	if err != nil {
		return nil, err
	}
	ways := []bench.Way{{Name: "in-process", Runner: box}, {Name: "http", Runner: overHTTP{client}}}
	for _, w := range workloads(ctx, python, limits(cfg), o.only, errOut) {
		for _, callers := range o.callers {
			for _, way := range ways {
				line, err := bench.Compare(ctx, python, way, w, callers, o.runs)
				if err != nil {
					return lines, err
				}
				lines = append(lines, line)
				fmt.Fprintf(errOut, "%s, %s, %s: done\n", line.Workload, line.Way, callersOf(line))
			}
		}
	}
	if len(o.only) > 0 && !slices.Contains(o.only, "print") {
		return lines, nil
	}
	if !filtered(box.Runtime()) { // there a server ends whatever else its user has
		fmt.Fprintln(errOut, "print, start: left out, since this machine has no seccomp")
		return lines, nil
	}
	line, err := measureStart(ctx, cfg, python, folder, o.runs)
	if err != nil {
		return lines, err
	}
	fmt.Fprintf(errOut, "%s, %s: done\n", line.Workload, line.Way)
	return append(lines, line), nil
}

// filtered reports whether runs can make no processes.
func filtered(r snippet.Runtime) bool {
	return slices.ContainsFunc(r.Layers, func(l snippet.Layer) bool { return l.Name == sandbox.LayerSeccomp && l.Active })
}

// overHTTP is a Runner that asks a server.
type overHTTP struct{ *remote }

func (o overHTTP) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	return o.remote.Run(ctx, job.Request)
}

func callersOf(line bench.Line) string {
	if line.Callers == 1 {
		return "1 caller"
	}
	return fmt.Sprintf("%d callers", line.Callers)
}

// workloads leaves out what was not asked for, and says so of what needs a module
// that the interpreter does not have.
func workloads(ctx context.Context, python string, limits snippet.Limits, only []string, errOut io.Writer) []bench.Workload {
	return slices.DeleteFunc(bench.Workloads(limits), func(w bench.Workload) bool {
		if len(only) > 0 && !slices.Contains(only, w.Name) {
			return true
		}
		lacking := w.Needs != "" && exec.CommandContext(ctx, python, "-I", "-c", "import "+w.Needs).Run() != nil
		if lacking {
			fmt.Fprintf(errOut, "%s: left out, since %s has no module %s\n", w.Name, python, w.Needs)
		}
		return lacking
	})
}

// benchServer is a whole server with a store in folder, so that HTTP figures have
// everything in them that a caller waits for. Nobody is turned away.
func benchServer(ctx context.Context, box *sandbox.Sandbox, limits snippet.Limits, folder string) (*httptest.Server, *sqlite.Store, error) {
	store, err := sqlite.Open(ctx, folder, sqlite.Limits{})
	if err != nil {
		return nil, nil, err
	}
	log, policy := slog.New(slog.DiscardHandler), snippet.DefaultPolicy()
	svc := service.New(service.Config{
		Runner: box, Recorder: store, Policy: policy, Limits: limits, Log: log,
		Concurrency: config.DefaultConcurrency(), Queue: mostCallers, Wait: benchWait,
	})
	handler, err := api.New(api.Config{
		Service: svc, Reader: store, Policy: policy, Runtime: box.Runtime, Version: buildVersion(), Log: log,
	})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return httptest.NewServer(handler), store, nil
}
