//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit statuses. The command run has more of its own.
const (
	exitFault = 1 // something outside the command line is wrong
	exitUsage = 2 // the command line or the environment is wrong
)

// usageError is a fault of the command line or the environment.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// statusError ends the process with a status of its own. Without an error
// everything has been said already.
type statusError struct {
	error
	status int
}

func (e statusError) Unwrap() error { return e.error }

// execute runs the command line and returns the exit status. A fault is one
// line on errOut: no usage, no stack.
func execute(args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	cmd, err := root.ExecuteC()
	switch {
	case err == nil:
		return 0
	case nobodyReads(err):
		return exitSignal + int(syscall.SIGPIPE)
	}
	complain(errOut, err)
	return statusOf(cmd, err)
}

// nobodyReads reports whether err is that of writing to a pipe whose reader has
// left, such as head(1): there is nothing to complain about. Of sockets net says
// the same with another type.
func nobodyReads(err error) bool {
	_, file := errors.AsType[*fs.PathError](err)
	return file && errors.Is(err, syscall.EPIPE)
}

// complain writes each fault in err on a line of its own.
func complain(w io.Writer, err error) {
	if s, ok := errors.AsType[statusError](err); ok && s.error == nil {
		return
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(w, "cloche: %s\n", line)
	}
}

func statusOf(cmd *cobra.Command, err error) int {
	if s, ok := errors.AsType[statusError](err); ok {
		return s.status
	}
	if cmd.Name() == runName {
		return exitRunFault
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFault
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "cloche",
		Short: "Run untrusted Python snippets and say plainly what happened",
		Long: "Cloche runs a Python snippet that nobody trusts and says plainly what happened.\n\n" +
			"Exit status: 0, or 1 when something on the machine is wrong, or 2 when the\n" +
			"command line or a CLOCHE_ variable is. The command run has its own.",
		Version:           buildVersion(), // for --version
		Args:              knownCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate(versionLine())
	root.AddCommand(newServe(), newRun(), newDemo(), newEvents(), newReplay(), newDoctor(), newBench(), newVersion())
	return root
}

// knownCommand is reached with arguments only if the first is no command.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{fmt.Errorf("unknown command %.80q; %s --help lists the commands", args[0], cmd.CommandPath())}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{fmt.Errorf("%s takes no arguments, only flags; %.80q is too many", cmd.CommandPath(), args[0])}
}
