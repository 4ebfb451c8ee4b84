//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cloche/internal/config"
	"cloche/internal/sandbox"
	"cloche/internal/service"
	"cloche/internal/snippet"
)

type demoFlags struct {
	remote string
	json   bool
}

func newDemo() *cobra.Command {
	settings, flags := config.ForRun(sandbox.LayerNames()...), &demoFlags{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the demo set and say whether each case came out right",
		Long: "Run the demo set: safe code, every kind of refusal, a deadline and errors. Without\n" +
			"--remote it runs here and nothing is recorded; with it the server runs and counts\n" +
			"it. The status is 1 if a case did not come out as it must.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return demo(cmd, settings, flags) },
	}
	settings.Bind(cmd.Flags())
	cmd.Flags().StringVar(&flags.remote, "remote", "", remoteUsage)
	cmd.Flags().BoolVar(&flags.json, "json", false, "print the report as JSON instead")
	return cmd
}

func demo(cmd *cobra.Command, settings *config.Loader, flags *demoFlags) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	erase := progress(cmd.ErrOrStderr(), "running the demo set")
	report, err := runDemo(ctx, cmd, settings, flags.remote)
	erase()
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return err
	}
	if flags.json {
		err = writeJSON(cmd.OutOrStdout(), report)
	} else {
		err = table(cmd.OutOrStdout(), report)
	}
	if err == nil && !report.AsExpected {
		return statusError{status: exitFault}
	}
	return err
}

func runDemo(ctx context.Context, cmd *cobra.Command, settings *config.Loader, url string) (service.DemoReport, error) {
	if url != "" {
		server, err := newRemote(url)
		if err != nil {
			return service.DemoReport{}, err
		}
		if err := onlyHere(cmd, "json"); err != nil {
			return service.DemoReport{}, err
		}
		return server.Demo(ctx)
	}
	cfg, err := settings.Load()
	if err != nil {
		return service.DemoReport{}, usageError{err}
	}
	return demoHere(ctx, cfg, cmd.ErrOrStderr())
}

// demoHere runs the set in a sandbox of its own.
func demoHere(ctx context.Context, cfg config.Config, errOut io.Writer) (service.DemoReport, error) {
	log := faultLog(errOut)
	box, err := sandbox.New(sandboxConfig(cfg, 2, log))
	if err != nil {
		return service.DemoReport{}, err
	}
	defer box.Close()
	return service.New(service.Config{
		Runner: box, Policy: snippet.DefaultPolicy(), Limits: limits(cfg), Concurrency: 1, Log: log,
	}).Demo(ctx, service.Caller{})
}

func table(out io.Writer, report service.DemoReport) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CASE\tOUTCOME\tREASON\tTIME\tAS EXPECTED\tSHOWS")
	wrong := 0
	for _, c := range report.Cases {
		verdict := "yes"
		if !c.AsExpected {
			wrong++
			verdict = fmt.Sprintf("no: %s (%s)", c.Expected, c.ExpectedReason)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.1f ms\t%s\t%s\n", printable(c.Name), printable(string(c.Outcome)),
			printable(string(c.Reason)), c.DurationMS, printable(verdict), printable(c.Shows))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, summary(report, wrong))
	return err
}

func summary(report service.DemoReport, wrong int) string {
	line := fmt.Sprintf("\n%d cases:", len(report.Cases))
	for i, o := range snippet.Outcomes() {
		if i > 0 {
			line += ","
		}
		line += fmt.Sprintf(" %d %s", report.Outcomes[o], o)
	}
	if wrong > 0 {
		return fmt.Sprintf("%s; %d not as expected", line, wrong)
	}
	return line + "; all as expected"
}
