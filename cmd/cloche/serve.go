//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime/debug"

	"github.com/spf13/cobra"

	"cloche/internal/api"
	"cloche/internal/config"
	"cloche/internal/guard"
	"cloche/internal/sandbox"
	"cloche/internal/service"
	"cloche/internal/snippet"
	"cloche/internal/sqlite"
	"cloche/web"
)

func newServe() *cobra.Command {
	settings := config.ForServer(sandbox.LayerNames()...)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API on this machine",
		Long: "Serve the HTTP API on this machine. When it is ready it prints one line with its\n" +
			"address on standard output; its log is on standard error.\n\n" +
			"SIGTERM or SIGINT stops it: it accepts nothing more and lets runs finish for up to\n" +
			"25 seconds. A second signal ends it at once.\n\n" +
			"Each flag can also be given by the variable in brackets; the flag wins.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings.Load()
			if err != nil {
				return usageError{err}
			}
			if useful, others := config.Environment(); others {
				return guard.Restart(useful) // what it was started with may hold secrets
			}
			return serve(cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	settings.Bind(cmd.Flags())
	return cmd
}

// serve claims what can be missing or taken first, so that a fault is told
// before a sandbox starts, and gives it all back in reverse.
func serve(cfg config.Config, out, errOut io.Writer) error {
	signals := notify()
	log := newLog(cfg, errOut)
	data, err := openData(cfg.Data)
	if err != nil {
		return err
	}
	defer data.Close()
	listener, err := listen(cfg.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	handler, closeParts, err := build(cfg, data, log)
	if err != nil {
		return err
	}
	defer closeParts()
	boundMemory(cfg)
	srv := newHTTPServer(handler, cfg.Wait, log)
	places, err := bounded(srv, listener, cfg, log)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "cloche listening on http://%s\n", reachedAt(cfg.Addr, listener.Addr()))
	return serveHTTP(srv, places, signals, log)
}

// What the server's own memory is meant to stay below: the budgets of the api, and
// what runs that end at the same time hold before their answers are counted.
const (
	memoryBase   = 112 << 20
	memoryPerRun = 6 << 20
)

// boundMemory has Go collect garbage more often, rather than let the heap grow to
// twice of what is held, when that much is held. An operator's own limit
// (GOMEMLIMIT) stays.
func boundMemory(cfg config.Config) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(memoryBase + int64(cfg.Concurrency)*memoryPerRun)
	}
}

// build wires the parts of a server. The function that it returns closes them.
func build(cfg config.Config, data *dataFolder, log *slog.Logger) (http.Handler, func(), error) {
	store, err := sqlite.Open(context.Background(), data.path, sqlite.Limits{})
	if err != nil {
		return nil, nil, err
	}
	box, err := sandbox.New(serverSandbox(cfg, cfg.Pool, cfg.Concurrency, log))
	if err != nil {
		store.Close()
		return nil, nil, err
	}
	closeParts := func() {
		logClose(log, "sandbox", box.Close())
		logClose(log, "records", store.Close())
	}
	handler, err := newHandler(cfg, box, store, log)
	if err != nil {
		closeParts()
		return nil, nil, err
	}
	return handler, closeParts, nil
}

func newHandler(cfg config.Config, box *sandbox.Sandbox, store *sqlite.Store, log *slog.Logger) (http.Handler, error) {
	policy := snippet.DefaultPolicy()
	svc := service.New(service.Config{
		Runner: box, Recorder: store, Policy: policy, Limits: limits(cfg),
		Concurrency: cfg.Concurrency, Queue: queue(cfg), Wait: cfg.Wait, Log: log,
	})
	return api.New(api.Config{
		Service: svc, Reader: store, Policy: policy, Packages: box.Packages, Runtime: box.Runtime, Version: buildVersion(),
		Page: web.Files(), AllowedHosts: allowedHosts(cfg), Log: log,
	})
}

func sandboxConfig(cfg config.Config, workers int, log *slog.Logger) sandbox.Config {
	return sandbox.Config{
		Python: cfg.Python, Workers: workers, WorkBase: cfg.WorkBase,
		Require: cfg.Require, Preload: cfg.Preload, Sole: cfg.SoleUser, Log: log,
	}
}

// serverSandbox has a pool that a rush of callers makes larger for a moment.
func serverSandbox(cfg config.Config, pool, concurrency int, log *slog.Logger) sandbox.Config {
	c := sandboxConfig(cfg, pool, log)
	c.Burst = concurrency
	return c
}

// limits are the contract's, with what the operator changed.
func limits(cfg config.Config) snippet.Limits {
	l := snippet.DefaultLimits()
	l.Memory, l.StdoutChars, l.StderrChars = cfg.Memory, cfg.StdoutChars, cfg.StderrChars
	return l
}

// allowedHosts has the operator's names, and the one that the server is asked
// to listen on: whoever reaches it there has to write it.
func allowedHosts(cfg config.Config) []string {
	host, _, err := net.SplitHostPort(cfg.Addr)
	if err != nil || host == "" {
		return cfg.AllowedHosts
	}
	return append([]string{host}, cfg.AllowedHosts...)
}

// queue is how a Service wants to be told that nobody may wait.
func queue(cfg config.Config) int {
	if cfg.Queue == 0 {
		return -1
	}
	return cfg.Queue
}

func logClose(log *slog.Logger, part string, err error) {
	if err != nil {
		log.Error("close", "part", part, "error", err.Error())
	}
}
