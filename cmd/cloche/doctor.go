//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"cloche/internal/config"
	"cloche/internal/sandbox"
	"cloche/internal/snippet"
)

func newDoctor() *cobra.Command {
	settings := config.ForRun(sandbox.LayerNames()...)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show how well this machine can isolate snippets",
		Long: "Show which Python would run snippets, with which packages, and which isolation\n" +
			"layers this machine has, and run one snippet. The status is 1 if a layer that --require names is missing or\n" +
			"the snippet does not come back right.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings.Load()
			if err != nil {
				return usageError{err}
			}
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if err := examine(ctx, cfg, cmd.OutOrStdout(), cmd.ErrOrStderr()); ctx.Err() == nil {
				return err
			}
			return errInterrupted
		},
	}
	settings.Bind(cmd.Flags())
	return cmd
}

// examine starts a sandbox that requires nothing, so that there is always
// something to show, and then asks for what is required.
func examine(ctx context.Context, cfg config.Config, out, errOut io.Writer) error {
	asked := sandboxConfig(cfg, 1, faultLog(errOut))
	lenient := asked
	lenient.Require = nil
	box, err := sandbox.New(lenient)
	if err != nil {
		return err
	}
	seen := box.Runtime()
	err = errors.Join(describe(out, seen), list(ctx, box, out), try(ctx, box, out), box.Close())
	return errors.Join(err, missing(asked.Require, seen))
}

func describe(out io.Writer, r snippet.Runtime) error {
	fmt.Fprintf(out, "Python %s at %s\n\n", r.Python, r.Executable)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, l := range r.Layers {
		state := "off"
		if l.Active {
			state = "on"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n\t\t%s\n", l.Name, state, l.Detail, l.Means)
	}
	return w.Flush()
}

// list says what snippets can import besides the standard library.
func list(ctx context.Context, box *sandbox.Sandbox, out io.Writer) error {
	found, err := box.Packages(ctx)
	if err != nil {
		return err
	}
	preloaded := "none of them preloaded"
	if names := preloadedOf(found); names != nil {
		preloaded = "preloaded: " + strings.Join(names, ", ")
	}
	_, err = fmt.Fprintf(out, "\nSnippets find %d modules besides the standard library; %s.\n", len(found.List)+found.Omitted, preloaded)
	return err
}

func preloadedOf(p snippet.Packages) (names []string) {
	for _, m := range p.List {
		if m.Preloaded {
			names = append(names, strings.TrimSpace(m.Module+" "+m.Version))
		}
	}
	return names
}

// try runs one snippet that must come back right.
func try(ctx context.Context, box *sandbox.Sandbox, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	result, err := box.Run(ctx, snippet.Job{
		ID: newID(), Limits: snippet.DefaultLimits(), Policy: snippet.DefaultPolicy(),
		Request: snippet.Request{Code: "6 * 7", Timeout: snippet.DefaultTimeout},
	})
	switch {
	case err != nil:
		return fmt.Errorf("run a snippet: %w", err)
	case result.Outcome != snippet.OK || result.Value == nil || *result.Value != "42":
		return fmt.Errorf("a snippet that must give 42 ended with %s (%s): %s", result.Outcome, result.Reason, result.Hint)
	}
	_, err = fmt.Fprintf(out, "\nA snippet ran and gave its answer after %.1f ms.\n", result.DurationMS)
	return err
}

// missing says which required layers are not on. The sandbox refuses to start
// without them for the same reason.
func missing(required []string, r snippet.Runtime) error {
	on := map[string]bool{}
	for _, l := range r.Layers {
		on[l.Name] = l.Active
	}
	var lacking []string
	for _, name := range required {
		if !on[name] {
			lacking = append(lacking, name)
		}
	}
	if lacking == nil {
		return nil
	}
	return fmt.Errorf("required isolation is missing: %s; mend it, or accept less with --require", strings.Join(lacking, ", "))
}
