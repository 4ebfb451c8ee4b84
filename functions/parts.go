// Package functions is what the mains of the AWS functions share: the parts
// that they are made of, as the template's variables say.
package functions

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"cloche/internal/api"
	"cloche/internal/config"
	"cloche/internal/dynamo"
	"cloche/internal/gateway"
	"cloche/internal/metrics"
	"cloche/internal/sandbox"
	"cloche/internal/service"
	"cloche/internal/snippet"
	"cloche/web"
)

// Times of a function: how long a run waits for a slot, and what it needs beyond
// its timeout. With the 2 s that gateway keeps for the record and the answer they
// leave room for the longest run within the template's 28 s.
const (
	wait    = 2 * time.Second
	reserve = 4 * time.Second
)

// Parts is what a function works with.
type Parts struct {
	Settings config.Lambda
	Log      *slog.Logger
	Store    metrics.Store
	Reports  Reports
}

// Main gives start its parts. It does not return: what start returns is logged
// and ends the process.
func Main(start func(context.Context, Parts) error) {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	parts, err := open(context.Background(), log)
	if err == nil {
		err = start(context.Background(), parts)
	}
	log.Error("start", slog.Any("cause", err))
	os.Exit(1)
}

func open(ctx context.Context, log *slog.Logger) (Parts, error) {
	settings, err := config.ForLambda()
	if err != nil {
		return Parts{}, err
	}
	store, err := dynamo.Open(ctx, dynamo.Options{Table: settings.Table, Shards: settings.Shards})
	return Parts{Settings: settings, Log: log, Store: store, Reports: store}, err
}

// Runner is where snippets run: the runner function, or a sandbox in this one.
func (p Parts) Runner(ctx context.Context) (gateway.Box, error) {
	s := p.Settings
	if !s.Inline {
		return gateway.OpenRemote(ctx, gateway.RemoteOptions{Function: s.Runner, Isolated: s.Isolated, Log: p.Log})
	}
	box, err := sandbox.New(sandbox.Config{
		Python: s.Python, Workers: 2, WorkBase: s.WorkBase, Require: s.Require, Preload: s.Preload, Sole: true, Log: p.Log,
	})
	if err != nil {
		return nil, err
	}
	if _, err := box.Packages(ctx); err != nil { // asked now, so that Runtime knows them
		p.Log.Warn("packages not listed", slog.Any("cause", err))
	}
	return gateway.Fitted{Box: box}, nil
}

// Service has snippets run and recorded. Lambda gives a function one request at
// a time.
func (p Parts) Service(runner service.Runner, recorder service.Recorder) *service.Service {
	limits := snippet.DefaultLimits()
	limits.Memory, limits.StdoutChars, limits.StderrChars = p.Settings.Memory, p.Settings.StdoutChars, p.Settings.StderrChars
	return service.New(service.Config{
		Runner: runner, Recorder: recorder, Policy: snippet.DefaultPolicy(), Limits: limits,
		Concurrency: 1, Wait: wait, Reserve: reserve, Overtime: gateway.RecordTime, Log: p.Log,
	})
}

// Handler is the HTTP surface. It answers to any name, since API Gateway has
// seen to that. How busy this function is says nothing about the others.
func (p Parts) Handler(s *service.Service, runtime func() snippet.Runtime) (http.Handler, error) {
	return api.New(api.Config{
		Service: s, Reader: p.Store, Runtime: runtime, Policy: snippet.DefaultPolicy(),
		Version: version(), Page: web.Files(), AllowedHosts: []string{"*"}, RunsElsewhere: true, Log: p.Log,
	})
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
