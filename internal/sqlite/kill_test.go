package sqlite

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/snippet"
)

var (
	kills = flag.Int("kills", 5, "how often TestKill kills a writing process")
	child = flag.String("child", "", "data folder of the process that TestKill kills; not for people")
	first = flag.Int("first", 0, "number of that process's first event")
)

// TestKill ends a process that records, at a random moment and without a
// warning. Each event whose Record had returned is there, and the sums are
// those of the events.
func TestKill(t *testing.T) {
	if *child != "" {
		recordUntilKilled(t)
	}
	rounds := *kills
	if testing.Short() {
		rounds = min(rounds, 1)
	}
	folder := t.TempDir()
	var promised []string
	for round := range rounds {
		promised = append(promised, killOne(t, folder, round*1_000_000)...)
		checkPromises(t, folder, promised)
	}
	t.Logf("%d kills, %d events confirmed before", rounds, len(promised))
}

// killOne returns the IDs that the killed process had confirmed.
func killOne(t *testing.T, folder string, first int) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKill$", "-child="+folder, fmt.Sprintf("-first=%d", first))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	begin, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the process confirmed nothing: %v", err)
	}
	time.AfterFunc(time.Duration(rand.IntN(150))*time.Millisecond, func() { cmd.Process.Kill() })
	rest, _ := io.ReadAll(lines)
	cmd.Wait()
	whole := begin + string(rest[:strings.LastIndexByte(string(rest), '\n')+1])
	return strings.Fields(whole)
}

// checkPromises opens what was left, as the next process would.
func checkPromises(t *testing.T, folder string, promised []string) {
	t.Helper()
	s, err := Open(t.Context(), folder, Limits{})
	if err != nil {
		t.Fatalf("open after a kill: %v", err)
	}
	defer s.Close()
	there, outcomes := everything(t, s)
	for _, id := range promised {
		if !there[id] {
			t.Errorf("event %s was confirmed and is gone", id)
		}
	}
	snap, err := s.Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if snap.Executions != int64(len(there)) || snap.Duration.Count != int64(len(there)) {
		t.Errorf("%d executions and %d durations for %d events", snap.Executions, snap.Duration.Count, len(there))
	}
	for _, o := range snippet.Outcomes() {
		if snap.Outcomes[o] != outcomes[o] {
			t.Errorf("%d times %s for %d events", snap.Outcomes[o], o, outcomes[o])
		}
	}
}

func everything(t *testing.T, s *Store) (map[string]bool, map[snippet.Outcome]int64) {
	t.Helper()
	there, outcomes := map[string]bool{}, map[snippet.Outcome]int64{}
	f := metrics.Filter{Limit: metrics.MaxLimit}
	for {
		page, err := s.Events(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Events {
			there[e.ID] = true
			outcomes[e.Outcome]++
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return there, outcomes
		}
	}
}

// recordUntilKilled is the child. It prints an ID when its event is recorded.
func recordUntilKilled(t *testing.T) {
	s, err := Open(t.Context(), *child, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := *first + w; ; n += 4 {
				e := metricstest.Event(n)
				e.Reason = snippet.Reasons()[n%len(snippet.Reasons())]
				e.Outcome = e.Reason.Outcome()
				if err := s.Record(t.Context(), e); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				os.Stdout.WriteString(e.ID + "\n")
			}
		})
	}
	wg.Wait()
}
