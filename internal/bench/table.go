package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Write prints the lines as a table for people.
func Write(out io.Writer, lines []Line) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "workload\tway\tcallers\truns\tp50 ms\tp95 ms\tp99 ms\tcpu ms\tMiB\truns/s\tbare p50 ms\tof bare\ttimes bare runs/s\t")
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.3f\t%.3f\t%.3f\t%.2f\t%d\t%s\t%s\t%s\t%s\t\n",
			l.Workload, l.Way, l.Callers, l.Runs, l.P50MS, l.P95MS, l.P99MS, l.CPUMS, l.Memory>>20, known("%.0f", l.RunsPerS),
			known("%.2f", l.BareMS), known("%.3f", l.Ratio), known("%.2f", l.Speedup))
	}
	return w.Flush()
}

// known prints a figure, or a dash where there is none.
func known(format string, v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf(format, v)
}
