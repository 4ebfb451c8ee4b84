// Package bench measures Cloche against not isolating at all: every snippet runs
// in turn in Cloche and in the bare interpreter that Cloche's template is, in
// the same run, so that a machine that changes its speed changes both. Figures
// to quote are ratios of medians.
package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cloche/internal/snippet"
)

// Runner runs one job, as internal/sandbox and a remote server do.
type Runner interface {
	Run(context.Context, snippet.Job) (snippet.Result, error)
}

// Workload is a snippet with what it needs and what it must answer.
type Workload struct {
	Name    string
	Job     snippet.Job
	Outcome snippet.Outcome
	Bare    []string      // arguments after the interpreter to compare with; nil for a Timer
	Timer   time.Duration // compare with a bare wait of this length
	Needs   string        // a module without which the workload is left out; "" for none
}

// Line is what was measured for one workload through one way by some callers.
type Line struct {
	Workload string  `json:"workload"`
	Way      string  `json:"way"` // "in-process", "http", or "start": a server that is started for each run
	Callers  int     `json:"callers"`
	Runs     int     `json:"runs"`
	P50MS    float64 `json:"p50_ms"`
	P95MS    float64 `json:"p95_ms"`
	P99MS    float64 `json:"p99_ms"`
	CPUMS    float64 `json:"cpu_ms"`       // of the child, mean
	Memory   int64   `json:"memory_bytes"` // peak of a child, median
	RunsPerS float64 `json:"runs_per_s"`   // 0 with one caller: see Compare
	BareMS   float64 `json:"bare_p50_ms"`
	BarePerS float64 `json:"bare_runs_per_s"` // with as many callers; 0 with one
	Ratio    float64 `json:"ratio"`           // P50MS / BareMS
	Speedup  float64 `json:"speedup"`         // RunsPerS / BarePerS; 0 with one caller
}

// Way is one way to run a job.
type Way struct {
	Name   string
	Runner Runner
}

// Compare measures one workload through one way, interleaved with the bare
// interpreter. With one caller the two alternate run by run, so its times are
// those of a caller who pauses between runs, and tell nothing about throughput:
// the next child is made while the bare interpreter runs. With more callers they
// alternate in rounds, since throughput needs the callers side by side.
func Compare(ctx context.Context, python string, way Way, w Workload, callers, runs int) (Line, error) {
	line := Line{Workload: w.Name, Way: way.Name, Callers: callers, Runs: runs}
	if callers < 1 || runs < 1 {
		return line, fmt.Errorf("%s %s: %d runs by %d callers measure nothing", w.Name, way.Name, runs, callers)
	}
	var ours, bare sample
	rounds := max(1, runs/callers) // each caller runs it at least once
	if callers > 1 {
		rounds = min(4, rounds)
	}
	each := max(1, runs/callers/rounds)
	for range rounds {
		if err := ours.round(callers, each, func() (snippet.Result, error) { return once(ctx, way.Runner, w) }); err != nil {
			return line, fmt.Errorf("%s %s: %w", w.Name, way.Name, err)
		}
		if err := bare.round(callers, each, func() (snippet.Result, error) { return onceBare(ctx, python, w) }); err != nil {
			return line, fmt.Errorf("%s bare: %w", w.Name, err)
		}
	}
	ours.fill(&line)
	line.BareMS = ms(bare.percentile(50))
	line.Ratio = line.P50MS / line.BareMS
	if callers > 1 {
		line.RunsPerS, line.BarePerS = ours.perSecond(), bare.perSecond()
		line.Speedup = line.RunsPerS / line.BarePerS
	}
	return line, nil
}

// once runs the job and insists on its outcome: a wrong answer is not fast.
func once(ctx context.Context, r Runner, w Workload) (snippet.Result, error) {
	result, err := r.Run(ctx, w.Job)
	if err == nil && result.Outcome != w.Outcome {
		err = fmt.Errorf("outcome %s (%s), want %s", result.Outcome, result.Reason, w.Outcome)
	}
	return result, err
}

func onceBare(ctx context.Context, python string, w Workload) (snippet.Result, error) {
	if w.Timer > 0 {
		time.Sleep(w.Timer)
		return snippet.Result{}, ctx.Err()
	}
	cmd := exec.CommandContext(ctx, python, w.Bare...)
	cmd.Stdin = strings.NewReader(w.Job.Request.Stdin)
	if files := w.Job.Request.Files; files != nil {
		var err error
		if cmd.Dir, err = os.MkdirTemp("", "cloche-bench-"); err != nil {
			return snippet.Result{}, err
		}
		defer os.RemoveAll(cmd.Dir)
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(cmd.Dir, f.Path), f.Content, 0o600); err != nil {
				return snippet.Result{}, err
			}
		}
	}
	_, err := cmd.Output()
	return snippet.Result{}, err
}

// sample collects the runs of one side.
type sample struct {
	mu     sync.Mutex
	times  []time.Duration
	cpu    float64
	memory []int64
	busy   time.Duration
}

func (s *sample) round(callers, each int, run func() (snippet.Result, error)) error {
	began := time.Now()
	errs := make(chan error, callers)
	for range callers {
		go func() { errs <- s.caller(each, run) }()
	}
	var first error
	for range callers {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	s.busy += time.Since(began)
	return first
}

func (s *sample) caller(each int, run func() (snippet.Result, error)) error {
	for range each {
		began := time.Now()
		result, err := run()
		took := time.Since(began)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.times = append(s.times, took)
		s.cpu += result.CPUMS
		s.memory = append(s.memory, result.PeakMemoryBytes)
		s.mu.Unlock()
	}
	return nil
}

func (s *sample) fill(line *Line) {
	line.Runs = len(s.times)
	line.P50MS, line.P95MS, line.P99MS = ms(s.percentile(50)), ms(s.percentile(95)), ms(s.percentile(99))
	line.CPUMS = s.cpu / float64(max(len(s.times), 1))
	slices.Sort(s.memory)
	if len(s.memory) > 0 {
		line.Memory = s.memory[len(s.memory)/2]
	}
}

// percentile is the nearest-rank percentile.
func (s *sample) percentile(p int) time.Duration {
	if len(s.times) == 0 {
		return 0
	}
	slices.Sort(s.times)
	return s.times[max(0, (len(s.times)*p+99)/100-1)]
}

func (s *sample) perSecond() float64 {
	if s.busy == 0 {
		return 0
	}
	return float64(len(s.times)) / s.busy.Seconds()
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
