//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"

	"github.com/spf13/cobra"

	"cloche/internal/api"
	"cloche/internal/bench"
	"cloche/internal/config"
	"cloche/internal/sandbox"
	"cloche/internal/service"
	"cloche/internal/snippet"
	"cloche/internal/sqlite"
)

// benchOptions are what a person chooses about a measurement.
type benchOptions struct {
	runs    int
	callers []int
	only    []string
	json    string
}

func newBench() *cobra.Command {
	settings := config.ForRun()
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure this machine against the bare interpreter",
		Long: "Measure snippets in Cloche, in-process and over HTTP, interleaved with the bare\n" +
			"interpreter that the template runs. Quote ratios of medians, from a quiet machine.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings.Load()
			if err != nil {
				return usageError{err}
			}
			return measure(cmd.Context(), cfg, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	settings.Bind(cmd.Flags())
	cmd.Flags().IntVar(&o.runs, "runs", 300, "runs of each snippet")
	cmd.Flags().IntSliceVar(&o.callers, "callers", []int{1, 4, 16}, "callers side by side")
	cmd.Flags().StringSliceVar(&o.only, "only", nil, "names of the snippets to measure; all without it")
	cmd.Flags().StringVar(&o.json, "out", "", "file to write the figures to, as JSON")
	return cmd
}

// measure prints each line as soon as it is there, and the table at the end.
func measure(ctx context.Context, cfg config.Config, o benchOptions, out, errOut io.Writer) error {
	box, err := sandbox.New(sandboxConfig(cfg, 0, warnings(errOut)))
	if err != nil {
		return err
	}
	defer box.Close()
	folder, err := os.MkdirTemp("", "cloche-bench-records-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	server, store, err := benchServer(ctx, box, folder)
	if err != nil {
		return err
	}
	defer store.Close()
	defer server.Close()
	python := box.Runtime().Executable
	client, err := newRemote(server.URL)
	if err != nil {
		return err
	}
	ways := []bench.Way{{Name: "in-process", Runner: box}, {Name: "http", Runner: overHTTP{client}}}
	var lines []bench.Line
	for _, w := range workloads(python, o.only) {
		for _, callers := range o.callers {
			for _, way := range ways {
				line, err := bench.Compare(ctx, python, way, w, callers, o.runs)
				if err != nil {
					return err
				}
				lines = append(lines, line)
				fmt.Fprintf(errOut, "%s, %s, %d callers: done\n", line.Workload, line.Way, line.Callers)
			}
		}
	}
	if err := bench.Write(out, lines); err != nil || o.json == "" {
		return err
	}
	text, err := json.MarshalIndent(lines, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.json, append(text, '\n'), 0o644)
}

// overHTTP is a Runner that asks a server.
type overHTTP struct{ *remote }

func (o overHTTP) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	return o.remote.Run(ctx, job.Request)
}

// workloads leaves out what was not asked for and what needs a module that the
// interpreter does not have.
func workloads(python string, only []string) []bench.Workload {
	return slices.DeleteFunc(bench.Workloads(), func(w bench.Workload) bool {
		if len(only) > 0 && !slices.Contains(only, w.Name) {
			return true
		}
		return w.Needs != "" && exec.Command(python, "-I", "-c", "import "+w.Needs).Run() != nil
	})
}

// benchServer is a whole server with a store in folder, so that HTTP figures have
// everything in them that a caller waits for.
func benchServer(ctx context.Context, box *sandbox.Sandbox, folder string) (*httptest.Server, *sqlite.Store, error) {
	store, err := sqlite.Open(ctx, folder, sqlite.Limits{})
	if err != nil {
		return nil, nil, err
	}
	log, policy := slog.New(slog.DiscardHandler), snippet.DefaultPolicy()
	svc := service.New(service.Config{Runner: box, Recorder: store, Policy: policy, Limits: snippet.DefaultLimits(), Log: log})
	handler, err := api.New(api.Config{
		Service: svc, Reader: store, Policy: policy, Runtime: box.Runtime, Version: buildVersion(), Log: log,
	})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return httptest.NewServer(handler), store, nil
}
