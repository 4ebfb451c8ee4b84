//go:build linux

package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"cloche/internal/guard"
)

func TestMain(m *testing.M) {
	guard.Main()
	// The race detector's second of sleep at each exit is not for short commands.
	os.Setenv("GORACE", "atexit_sleep_ms=10")
	testscript.Main(m, map[string]func(){"cloche": main})
}

// TestScripts runs every file of testdata: a new case is a new file.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		Setup:               setUp,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"event":  logEvent,
			"listen": listenFor,
			"server": startScriptServer,
			"status": status,
		},
	})
}

// setUp gives a script a folder for its runs that lies outside its own: as root,
// snippets have another uid, which cannot pass through a script's folder.
func setUp(env *testscript.Env) error {
	dir, err := os.MkdirTemp("", "cloche.test.*")
	if err != nil {
		return err
	}
	env.Defer(func() { os.RemoveAll(dir) })
	env.Setenv("CLOCHE_WORK", dir)
	env.Setenv("GORACE", os.Getenv("GORACE"))
	return os.Chmod(dir, 0o711)
}

// listenFor takes a port until the script ends: listen VARIABLE puts host:port
// into the variable.
func listenFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: listen VARIABLE")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], l.Addr().String())
}

// status runs a command that must end with just that status: status N COMMAND
// [ARGUMENT...]. The commands stdout and stderr look at its output afterwards.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("status %d, want %d; standard error:\n%s", got, want, ts.ReadFile("stderr"))
	}
}
