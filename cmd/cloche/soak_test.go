//go:build linux && soak

package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloche/internal/snippet"
)

const (
	soakRuns    = 10_000
	soakCallers = 8
	soakTime    = 4 * time.Minute
	soakGrowth  = 20 << 20 // bytes that the server may grow by
)

// footprint is what a server holds of the machine.
type footprint struct {
	processes, folders, descriptors int
}

func (s *server) footprint(t *testing.T) footprint {
	t.Helper()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return footprint{len(descendants(s.cmd.Process.Pid)), len(s.leftovers(t)), len(fds)}
}

// settled waits until the footprint is the same for a while.
func (s *server) settled(t *testing.T) footprint {
	t.Helper()
	last, same := s.footprint(t), 0
	for range 300 {
		time.Sleep(50 * time.Millisecond)
		if now := s.footprint(t); now == last {
			if same++; same == 20 {
				return now
			}
		} else {
			last, same = now, 0
		}
	}
	t.Fatalf("never at rest: %+v", last)
	return last
}

// resident is the server's own memory in bytes.
func (s *server) resident(t *testing.T) int64 { return s.memory(t, "VmRSS:") }

// memory reads a field of proc_pid_status(5) in bytes.
func (s *server) memory(t *testing.T, field string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatalf("no %s", field)
	return 0
}

// Ten thousand runs of every kind: each verdict is right, each is counted once,
// and the server is afterwards as it was before.
func TestSoak(t *testing.T) {
	buildServer(t)
	s := startServer(t)
	bear(t, s, mixed(300, 1)) // warm: connections, pool, caches
	http.DefaultClient.CloseIdleConnections()
	held, size, before := s.settled(t), s.resident(t), s.counted(t)

	began := time.Now()
	answered := bear(t, s, mixed(soakRuns, 2))
	took := time.Since(began)

	after := s.counted(t)
	http.DefaultClient.CloseIdleConnections()
	heldAfter, sizeAfter := s.settled(t), s.resident(t)
	t.Logf("%d runs in %.1f s; memory %+.1f MiB of %.1f; footprint %+v", soakRuns, took.Seconds(),
		float64(sizeAfter-size)/(1<<20), float64(size)/(1<<20), heldAfter)
	if took > soakTime {
		t.Errorf("took %v", took)
	}
	if sizeAfter-size > soakGrowth {
		t.Errorf("memory went from %d to %d bytes", size, sizeAfter)
	}
	if heldAfter != held {
		t.Errorf("left behind: %+v, before %+v", heldAfter, held)
	}
	for reason, n := range before.Reasons {
		after.Reasons[reason] -= n
	}
	maps.DeleteFunc(after.Reasons, func(_ snippet.Reason, n int64) bool { return n == 0 })
	if !maps.Equal(after.Reasons, answered) || after.Executions-before.Executions != soakRuns {
		t.Errorf("%d runs are counted: %v; answered were %v", after.Executions-before.Executions, after.Reasons, answered)
	}
	if after.Load.InFlight != 0 || after.Load.Waiting != 0 || after.Load.Refused != 0 {
		t.Errorf("load %+v", after.Load)
	}
	s.signal(t)
	if status := s.end(t, 10*time.Second); status != 0 || len(s.leftovers(t)) > 0 {
		t.Errorf("status %d, left in the work folder: %v", status, s.leftovers(t))
	}
}

// bear sends all runs from several callers and counts the answers by reason.
func bear(t *testing.T, s *server, runs []load) map[snippet.Reason]int64 {
	t.Helper()
	var callers sync.WaitGroup
	var next atomic.Int64
	var mu sync.Mutex
	answered := map[snippet.Reason]int64{}
	for range soakCallers {
		callers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(runs); i = next.Add(1) - 1 {
				r, err := runs[i].send(http.DefaultClient, s.url)
				if err != nil || r.Reason != runs[i].reason {
					t.Errorf("%q: %s (%s) %s, error %v; want %s", runs[i].request["code"], r.Outcome, r.Reason, r.Hint, err, runs[i].reason)
				}
				mu.Lock()
				answered[r.Reason]++
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	return answered
}
