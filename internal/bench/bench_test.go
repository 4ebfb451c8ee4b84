package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cloche/internal/snippet"
)

type runnerFunc func() (snippet.Result, error)

func (f runnerFunc) Run(context.Context, snippet.Job) (snippet.Result, error) { return f() }

func TestCompareCountsEveryRun(t *testing.T) {
	ok := runnerFunc(func() (snippet.Result, error) {
		time.Sleep(time.Millisecond)
		return snippet.Result{Outcome: snippet.OK, CPUMS: 2, PeakMemoryBytes: 7}, nil
	})
	w := Workload{Name: "w", Outcome: snippet.OK, Bare: []string{"-c", "exit 0"}}
	for _, c := range []struct{ callers, runs, want int }{{1, 8, 8}, {4, 8, 8}, {4, 1, 4}} {
		line, err := Compare(t.Context(), "/bin/sh", Way{"in-process", ok}, w, c.callers, c.runs)
		if err != nil {
			t.Fatal(err)
		}
		if line.Runs != c.want || line.CPUMS != 2 || line.Memory != 7 || line.P50MS < 1 || line.BareMS <= 0 || line.Ratio != line.P50MS/line.BareMS || (line.RunsPerS > 0) != (c.callers > 1) || (line.Speedup > 0) != (c.callers > 1) {
			t.Errorf("%d callers: %+v", c.callers, line)
		}
	}
	for _, c := range [][2]int{{0, 8}, {1, 0}} {
		if line, err := Compare(t.Context(), "/bin/sh", Way{"in-process", ok}, w, c[0], c[1]); err == nil {
			t.Errorf("%d callers, %d runs: %+v", c[0], c[1], line)
		}
	}
}

func TestAWrongAnswerIsNotMeasured(t *testing.T) {
	for name, r := range map[string]runnerFunc{
		"outcome": func() (snippet.Result, error) { return snippet.Result{Outcome: snippet.Error}, nil },
		"error":   func() (snippet.Result, error) { return snippet.Result{}, errors.New("gone") },
	} {
		if _, err := Compare(t.Context(), "/bin/sh", Way{"x", r}, Workload{Outcome: snippet.OK}, 1, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPercentile(t *testing.T) {
	var s sample
	for n := 100; n > 0; n-- {
		s.times = append(s.times, time.Duration(n))
	}
	if s.percentile(50) != 50 || s.percentile(95) != 95 || s.percentile(99) != 99 {
		t.Errorf("%d %d %d", s.percentile(50), s.percentile(95), s.percentile(99))
	}
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, []Line{{Workload: "print", Ratio: 0.04}, {Workload: "files"}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "0.040") || !strings.Contains(b.String(), "-") {
		t.Error(b.String())
	}
}
