//go:build soak

package sandbox

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"cloche/internal/snippet"
)

// pace is the time from one run to the next, if the machine keeps up: runs that
// follow at once would only measure how fast children are made.
const pace = 8 * time.Millisecond

// TestSteady runs a snippet CLOCHE_STEADY times, one after the other. What is
// held must not grow, and worn templates must give way without slow runs: of
// those beside a change hardly more may take three medians than of the others.
// How fast the last runs were beside the first is told and not judged: a busy
// machine changes it.
func TestSteady(t *testing.T) {
	runs, err := strconv.Atoi(os.Getenv("CLOCHE_STEADY"))
	if err != nil || runs < 4000 {
		t.Fatalf("CLOCHE_STEADY is %q, want a number of runs from 4000 on", os.Getenv("CLOCHE_STEADY"))
	}
	s := newSandbox(t, Config{wear: wear{min(usualWear.runs, runs/4), usualWear.age, usualWear.amble}})
	for range 1000 {
		s.steady(t)
	}
	before, memory := s.settled(t, max(4, runtime.NumCPU())), residentBytes()
	var calm, changing []time.Duration // runs by whether a template was about to change
	var first, last []time.Duration
	changes, next := 0, time.Now()
	for n := range runs {
		time.Sleep(time.Until(next))
		next = time.Now().Add(pace)
		turning := s.turning.Load() > 0
		took := s.steady(t)
		if turning || s.turning.Load() > 0 {
			changing = append(changing, took)
		} else {
			if len(changing) > 0 && changing[len(changing)-1] != 0 {
				changing, changes = append(changing, 0), changes+1 // 0 ends one change
			}
			calm = append(calm, took)
		}
		if n < 1000 {
			first = append(first, took)
		}
		if n >= runs-1000 {
			last = append(last, took)
		}
	}
	after := s.settled(t, max(4, runtime.NumCPU()))
	grown := residentBytes() - memory
	changing = slices.DeleteFunc(changing, func(d time.Duration) bool { return d == 0 })
	median := percentile(calm, 50)
	slow, usual := over(changing, 3*median), over(calm, 3*median)
	t.Logf("FIGURE %d runs: median %s of the first 1000, %s of the last: %.3f", runs,
		percentile(first, 50), percentile(last, 50), float64(percentile(last, 50))/float64(percentile(first, 50)))
	t.Logf("FIGURE %d changes of the template; runs meanwhile (%d): median %s, 99th percentile %s, slowest %s; other runs: %s, %s, %s; over 3 medians: %.2f %% and %.2f %%",
		changes, len(changing), percentile(changing, 50), percentile(changing, 99), percentile(changing, 100),
		median, percentile(calm, 99), percentile(calm, 100), 100*slow, 100*usual)
	t.Logf("FIGURE memory of the server %+d KiB, descriptors %+d", grown>>10, after.fds-before.fds)
	if changes < 2 {
		t.Errorf("the template changed %d times", changes)
	}
	if slow > 2*usual+0.1 { // an heir at full speed makes it half of them
		t.Errorf("%.1f %% of the runs beside a change were slow, %.1f %% of the others", 100*slow, 100*usual)
	}
	if after.fds > before.fds || after.zombies > before.zombies || after.folders != before.folders {
		t.Errorf("left behind: %+v, before %+v", after, before)
	}
	if grown > 16<<20 {
		t.Errorf("the server holds %d more bytes", grown)
	}
}

// steady makes one run and returns how long it took.
func (s *Sandbox) steady(t *testing.T) time.Duration {
	began := time.Now()
	r := s.run(t, job("print(1)"))
	took := time.Since(began)
	if r.Outcome != snippet.OK || r.Stdout != "1\n" {
		t.Fatalf("%+v", r)
	}
	return took
}

// residentBytes is the memory of this process after its garbage is gone.
func residentBytes() int64 {
	runtime.GC()
	return statusBytes(os.Getpid(), "VmRSS")
}

func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// over is the share of times above a bound.
func over(times []time.Duration, bound time.Duration) float64 {
	n := 0
	for _, d := range times {
		if d > bound {
			n++
		}
	}
	return float64(n) / float64(max(len(times), 1))
}
