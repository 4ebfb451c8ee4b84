//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/snippet"
)

// moment is an event that ended so long after the start of a test.
func moment(id string, after time.Duration) metrics.Event {
	return metrics.Event{
		ID: id, Time: time.Now().Add(-time.Minute + after), Tenant: "default",
		Outcome: snippet.OK, Reason: snippet.Completed,
	}
}

func idsOf(list []metrics.Event) string {
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return strings.Join(ids, " ")
}

// Each event is listed once, also one that is recorded after younger ones, and
// none that the first list left out.
func TestFollowerListsEachOnce(t *testing.T) {
	store := &metricstest.Memory{}
	record := func(e metrics.Event) {
		if err := store.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	f := &follower{from: store}
	record(moment("left-out", 0))
	record(moment("a", 1*time.Second))
	record(moment("b", 2*time.Second))
	look := func(want string) {
		t.Helper()
		list, err := f.look(t.Context())
		if got := idsOf(list); err != nil || got != want {
			t.Errorf("listed %q, want %q; error %v", got, want, err)
		}
	}
	if list, err := f.first(t.Context(), 2); err != nil || idsOf(list) != "a b" {
		t.Fatalf("first listed %q: %v", idsOf(list), err)
	}
	look("")
	record(moment("d", 9*time.Second))
	look("d")
	record(moment("c", 3*time.Second))
	look("c")
	record(moment("e", 30*time.Second))
	look("e")
	look("")
	if len(f.seen) != 1 {
		t.Errorf("%d ids are kept", len(f.seen))
	}
}

func TestFollowerWalksPages(t *testing.T) {
	store := &metricstest.Memory{}
	for n := range 2500 {
		if err := store.Record(t.Context(), metricstest.Event(n)); err != nil {
			t.Fatal(err)
		}
	}
	f := &follower{from: store}
	list, err := f.first(t.Context(), 2200)
	if err != nil || len(list) != 2200 {
		t.Fatalf("%d events: %v", len(list), err)
	}
	if !slices.IsSortedFunc(list, func(a, b metrics.Event) int { return a.Time.Compare(b.Time) }) {
		t.Error("not oldest first")
	}
}

type listerFunc func() (metrics.Page, error)

func (f listerFunc) Events(context.Context, metrics.Filter) (metrics.Page, error) { return f() }

func TestFollowerWaitsOutWhatPasses(t *testing.T) {
	calls := 0
	f := &follower{seen: map[string]time.Time{}, from: listerFunc(func() (metrics.Page, error) {
		if calls++; calls < 3 {
			return metrics.Page{}, errors.New("connection refused")
		}
		return metrics.Page{Events: []metrics.Event{moment("a", 0)}}, nil
	})}
	var told strings.Builder
	list, err := f.next(t.Context(), &told)
	if err != nil || idsOf(list) != "a" || told.String() != "cloche: connection refused; trying again\n" {
		t.Errorf("listed %q, error %v, told %q", idsOf(list), err, told.String())
	}
	f.from = listerFunc(func() (metrics.Page, error) { return metrics.Page{}, &refusedError{422, "no"} })
	if _, err := f.next(t.Context(), &told); err == nil {
		t.Error("goes on after a refusal")
	}
}

// A real follower shows runs as they come and ends well when it is told to.
func TestEventsFollow(t *testing.T) {
	s := startServer(t)
	var want []string // of all runs so far
	for _, from := range [][]string{{"--data", s.data}, {"--remote", s.url}} {
		cmd := exec.Command("cloche", append([]string{"events", "--follow", "--outcome", "ERROR"}, from...)...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		lines := bufio.NewScanner(out)
		for _, code := range []string{"1/0", "import sys; sys.exit(3)"} {
			if status := <-s.execute("pass"); status != 200 {
				t.Fatalf("status %d", status)
			}
			if status := <-s.execute(code); status != 200 {
				t.Fatalf("status %d", status)
			}
		}
		want = append(want, "exception", "exit_status")
		for _, reason := range want {
			if !lines.Scan() || !strings.Contains(lines.Text(), reason) {
				t.Errorf("%v: line %q, want %s", from, lines.Text(), reason)
			}
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: ended with %v", from, err)
		}
	}
}
