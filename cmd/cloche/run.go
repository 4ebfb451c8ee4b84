//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"cloche/internal/config"
	"cloche/internal/sandbox"
	"cloche/internal/snippet"
)

const runName = "run"

// Exit statuses of run, as timeout(1) and env(1) have them. A snippet can exit
// with any of them itself; --json tells which it was.
const (
	exitTimeout  = 124
	exitRunFault = 125 // no verdict, or the sandbox failed
	exitBlocked  = 126
	exitSignal   = 128 // plus the number of the signal
)

// runFlags are the flags of run that are not settings.
type runFlags struct {
	timeout time.Duration
	stdin   string   // a file, "-", or "" for none
	files   []string // path[=local]
	json    bool
	remote  string // a server that runs it; "" for here
}

func newRun() *cobra.Command {
	settings, flags := config.ForRun(sandbox.LayerNames()...), &runFlags{}
	cmd := &cobra.Command{
		Use:   runName + " FILE|-",
		Short: "Run one snippet, here or on a server",
		Long: "Run one snippet: here, without a server, or with --remote on one. FILE is Python\n" +
			"source, - reads it from standard input. What the snippet prints goes to standard\n" +
			"output and standard error, cut like a server's answer; a last line on standard error\n" +
			"says why it did not end well. A run here is not recorded.\n\n" +
			"Exit status:\n" +
			"  0      OK\n" +
			"  1-255  ERROR: the snippet's own exit status; 1 if it has none\n" +
			"  124    TIMEOUT\n" +
			"  125    no verdict: a fault of the command line, the machine or the sandbox\n" +
			"  126    BLOCKED\n" +
			"  128+N  ERROR: killed by signal N",
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd, settings, flags, args[0])
		},
	}
	settings.Bind(cmd.Flags())
	f := cmd.Flags()
	f.DurationVar(&flags.timeout, "timeout", snippet.DefaultTimeout, "wall clock of the snippet, 100ms to 20s")
	f.StringVar(&flags.stdin, "stdin", "", "`file` for the snippet's standard input, - for ours; none if not named")
	f.StringArrayVar(&flags.files, "file", nil, "file for the work folder, as `path` or, where it has another path here, path=local; may be repeated")
	f.BoolVar(&flags.json, "json", false, "print the whole verdict as JSON instead")
	f.StringVar(&flags.remote, "remote", "", remoteUsage)
	return cmd
}

func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usageError{fmt.Errorf("%s takes one FILE, or - for standard input; %d were given", cmd.CommandPath(), len(args))}
}

func run(cmd *cobra.Command, settings *config.Loader, flags *runFlags, file string) error {
	runner, err := flags.runner(cmd, settings)
	if err != nil {
		return err
	}
	request, err := flags.request(file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	erase := progress(cmd.ErrOrStderr(), "running")
	result, err := runner(ctx, request)
	erase()
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return flags.inFlags(err)
	}
	if err := show(result, flags.json, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
		return err
	}
	if status := statusOfResult(result); status != 0 {
		return statusError{status: status}
	}
	return nil
}

var errInterrupted = statusError{errors.New("interrupted"), exitSignal + int(syscall.SIGINT)}

// runner is who runs the request: a server, or a sandbox of its own.
func (f *runFlags) runner(cmd *cobra.Command, settings *config.Loader) (func(context.Context, snippet.Request) (snippet.Result, error), error) {
	if f.remote != "" {
		if err := onlyHere(cmd, "timeout", "stdin", "file", "json"); err != nil {
			return nil, err
		}
		server, err := newRemote(f.remote)
		if err != nil {
			return nil, err
		}
		return server.Run, nil
	}
	cfg, err := settings.Load()
	if err != nil {
		return nil, usageError{err}
	}
	return func(ctx context.Context, request snippet.Request) (snippet.Result, error) {
		return runOnce(ctx, cfg, request, cmd.ErrOrStderr())
	}, nil
}

// runOnce runs the request in a sandbox of its own.
func runOnce(ctx context.Context, cfg config.Config, request snippet.Request, errOut io.Writer) (snippet.Result, error) {
	box, err := sandbox.New(sandboxConfig(cfg, 1, faultLog(errOut)))
	if err != nil {
		return snippet.Result{}, err
	}
	defer box.Close()
	return box.Run(ctx, snippet.Job{
		ID: newID(), Request: request,
		Limits: limits(cfg), Policy: snippet.DefaultPolicy(),
	})
}

// newID names a run like a server does.
func newID() string { return ulid.Make().String() }

// request reads everything that the run needs and checks it like a server does.
func (f *runFlags) request(file string, in io.Reader) (snippet.Request, error) {
	if file == "-" && f.stdin == "-" {
		return snippet.Request{}, usageError{errors.New("both the snippet and its --stdin are to come from standard input; name a file for one of them")}
	}
	if err := durationFault("timeout", f.timeout, snippet.MinTimeout, snippet.MaxTimeout); err != nil {
		return snippet.Request{}, usageError{err}
	}
	code, err := read(file, in, snippet.MaxCode)
	if err != nil {
		return snippet.Request{}, fmt.Errorf("read the snippet: %w", err)
	}
	request := snippet.Request{Code: string(code), Timeout: f.timeout}
	if request.Stdin, err = f.input(in); err != nil {
		return snippet.Request{}, err
	}
	if request.Files, err = f.inputFiles(); err != nil {
		return snippet.Request{}, err
	}
	if err := snippet.Validate(request); err != nil {
		return snippet.Request{}, usageError{f.inFlags(err)}
	}
	return request, nil
}

func (f *runFlags) input(in io.Reader) (string, error) {
	if f.stdin == "" {
		return "", nil
	}
	text, err := read(f.stdin, in, snippet.MaxStdin)
	if err != nil {
		return "", fmt.Errorf("read the standard input: %w", err)
	}
	return string(text), nil
}

func (f *runFlags) inputFiles() ([]snippet.File, error) {
	var files []snippet.File
	for _, pair := range f.files {
		path, local, named := strings.Cut(pair, "=")
		if !named {
			local = path
		}
		content, err := read(local, nil, snippet.MaxFilesBytes)
		if err != nil {
			return nil, fmt.Errorf("read the file for --file %s: %w", path, err)
		}
		files = append(files, snippet.File{Path: path, Content: content})
	}
	return files, nil
}

// read returns a file's content, or what in has for the name "-". It stops a
// byte after most, where the request's own check refuses it.
func read(name string, in io.Reader, most int64) ([]byte, error) {
	if name == "-" && in != nil {
		return io.ReadAll(io.LimitReader(in, most+1))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

func show(r snippet.Result, whole bool, out, errOut io.Writer) error {
	if whole {
		return writeJSON(out, r)
	}
	if _, err := io.WriteString(out, r.Stdout); err != nil {
		return err
	}
	_, err := io.WriteString(errOut, r.Stderr+lastLine(r))
	return err
}

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// lastLine says why a snippet did not end well; "" if it did.
func lastLine(r snippet.Result) string {
	if r.Outcome == snippet.OK {
		return ""
	}
	line := fmt.Sprintf("cloche: %s (%s) %s\n", r.Outcome, r.Reason, hintWords.Replace(r.Hint))
	if r.Stderr != "" && !strings.HasSuffix(r.Stderr, "\n") {
		line = "\n" + line
	}
	return line
}

// statusOfResult is the exit status that the help promises.
func statusOfResult(r snippet.Result) int {
	switch {
	case r.Outcome == snippet.OK:
		return 0
	case r.Outcome == snippet.Timeout:
		return exitTimeout
	case r.Outcome == snippet.Blocked:
		return exitBlocked
	case r.Reason == snippet.SandboxFailure:
		return exitRunFault
	case r.Signal != nil && unix.SignalNum(*r.Signal) != 0:
		return exitSignal + int(unix.SignalNum(*r.Signal))
	case r.ExitCode != nil && *r.ExitCode > 0 && *r.ExitCode <= 255:
		return *r.ExitCode
	}
	return 1
}
