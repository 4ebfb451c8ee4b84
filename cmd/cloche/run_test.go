//go:build linux

package main

import (
	"strings"
	"testing"

	"cloche/internal/snippet"
)

func TestStatusOfResult(t *testing.T) {
	code := func(n int) *int { return &n }
	signal := func(s string) *string { return &s }
	for _, c := range []struct {
		name string
		r    snippet.Result
		want int
	}{
		{"ok", snippet.Result{Outcome: snippet.OK, ExitCode: code(0)}, 0},
		{"timeout", snippet.Result{Outcome: snippet.Timeout, Signal: signal("SIGKILL")}, 124},
		{"blocked", snippet.Result{Outcome: snippet.Blocked, ExitCode: code(1)}, 126},
		{"sandbox", snippet.Result{Outcome: snippet.Error, Reason: snippet.SandboxFailure}, 125},
		{"exit", snippet.Result{Outcome: snippet.Error, Reason: snippet.ExitStatus, ExitCode: code(255)}, 255},
		{"killed", snippet.Result{Outcome: snippet.Error, Reason: snippet.Signal, Signal: signal("SIGSEGV")}, 139},
		{"unknown signal", snippet.Result{Outcome: snippet.Error, Reason: snippet.Signal, Signal: signal("SIG77")}, 1},
		{"no exit code", snippet.Result{Outcome: snippet.Error, Reason: snippet.DiskLimit}, 1},
		{"error that calls itself 0", snippet.Result{Outcome: snippet.Error, Reason: snippet.Exception, ExitCode: code(0)}, 1},
	} {
		if got := statusOfResult(c.r); got != c.want {
			t.Errorf("%s: status %d, want %d", c.name, got, c.want)
		}
	}
}

// The last line must not stick to what the snippet wrote without an end of line.
func TestLastLineStandsAlone(t *testing.T) {
	var out, errOut strings.Builder
	r := snippet.Result{Outcome: snippet.Timeout, Reason: snippet.Deadline, Stdout: "a", Stderr: "b", Hint: "Shorten it."}
	if err := show(r, false, &out, &errOut); err != nil {
		t.Fatal(err)
	}
	if out.String() != "a" || errOut.String() != "b\ncloche: TIMEOUT (deadline) Shorten it.\n" {
		t.Errorf("stdout %q, stderr %q", out.String(), errOut.String())
	}
}
