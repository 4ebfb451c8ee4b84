// Command runner is the function that runs snippets, and the only one on AWS
// that does. Nothing that it could do or reach is worth an escape.
package main

import (
	"context"
	"log/slog"
	"os"

	"cloche/internal/config"
	"cloche/internal/gateway"
	"cloche/internal/guard"
	"cloche/internal/sandbox"
)

func main() {
	guard.Main() // in a helper process of the sandbox this call does not return
	diary := gateway.NewDiary(os.Stdout)
	log := slog.New(slog.NewJSONHandler(diary, nil))
	if useful, others := config.RunnerEnvironment(); others {
		// What a process was started with stays readable for others of its user.
		log.Error("restart", slog.Any("cause", guard.Restart(useful)))
		os.Exit(1)
	}
	gateway.ServeHost(host(log, diary))
}

func host(log *slog.Logger, diary *gateway.Diary) *gateway.Host {
	settings, err := config.ForLambda()
	if err != nil {
		return &gateway.Host{Fault: err, Diary: diary}
	}
	box, err := sandbox.New(sandbox.Config{
		Python: settings.Python, Workers: 2, WorkBase: settings.WorkBase, Preload: settings.Preload, Sole: true, Log: log,
	})
	if err != nil {
		return &gateway.Host{Fault: err, Diary: diary}
	}
	if _, err := box.Packages(context.Background()); err != nil { // asked now, so that Runtime knows them
		log.Warn("packages not listed", slog.Any("cause", err))
	}
	return &gateway.Host{Box: box, Diary: diary}
}
