//go:build linux

package main

import (
	"io"
	"log/slog"

	"cloche/internal/config"
)

// newLog writes one record a line. Both forms quote control characters, so
// that no text of a caller can forge a line.
func newLog(cfg config.Config, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// faultLog is the log of a command for a person: only what went wrong. Which
// layers are off is for doctor to show.
func faultLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelError}))
}
