//go:build linux

package main

import (
	"bufio"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

// startScriptServer runs a server until the script ends: server FOLDER VARIABLE
// has its records in the folder, and puts its address into the variable.
func startScriptServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: server FOLDER VARIABLE")
	}
	cmd := exec.Command("cloche", "serve", "--addr", "127.0.0.1:0", "--data", ts.MkAbs(args[0]), "--work", ts.Getenv("CLOCHE_WORK"))
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	ts.Setenv(args[1], strings.TrimPrefix(strings.TrimSpace(line), "cloche listening on "))
}

// logEvent appends the line of an event to a log: event FILE ID AGE [REASON].
func logEvent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: event FILE ID AGE [REASON]")
	}
	age, err := time.ParseDuration(args[2])
	ts.Check(err)
	e := metrics.Event{ID: args[1], Time: time.Now().Add(-age), Tenant: "default", Reason: snippet.Completed}
	if len(args) == 4 {
		e.Reason = snippet.Reason(args[3])
	}
	if e.Outcome = e.Reason.Outcome(); e.Outcome == "" {
		e.Outcome = snippet.OK
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	defer f.Close()
	slog.New(slog.NewJSONHandler(f, nil)).Error("event not recorded", slog.String("cause", "disk is full"), slog.Any(metrics.LineKey, e))
}
