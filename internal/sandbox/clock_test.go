package sandbox

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/snippet"
)

// moveClock is set by the gate. Without it nobody's clock is touched.
const moveClock = "CLOCHE_MOVE_CLOCK"

// jump moves the machine's clock by d for a moment, and back.
func jump(t *testing.T, d time.Duration) {
	t.Helper()
	move := func(by time.Duration) {
		now := unix.NsecToTimeval(time.Now().Add(by).UnixNano())
		if err := unix.Settimeofday(&now); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now() // its monotonic reading is not moved
	move(d)
	time.Sleep(30 * time.Millisecond)
	now := unix.NsecToTimeval(began.UnixNano() + time.Since(began).Nanoseconds())
	if err := unix.Settimeofday(&now); err != nil {
		t.Fatal(err)
	}
}

// TestClockJumps: deadlines and durations are of a clock that does not jump.
func TestClockJumps(t *testing.T) {
	if os.Getenv(moveClock) == "" {
		t.Skip("NOT TESTED: " + moveClock + " is not set; the test moves the machine's clock for a moment")
	}
	s := shared.get(t)
	for name, by := range map[string]time.Duration{"forward": 90 * time.Second, "back": -90 * time.Second} {
		t.Run(name, func(t *testing.T) {
			moved := make(chan struct{})
			go func() { defer close(moved); time.Sleep(100 * time.Millisecond); jump(t, by) }()
			j := job("import time\ntime.sleep(0.4)\nprint('slept')")
			if r := s.run(t, j); r.Outcome != snippet.OK || r.DurationMS < 400 || r.DurationMS > 5000 {
				t.Errorf("a sleep: %s (%s) after %v ms", r.Outcome, r.Reason, r.DurationMS)
			}
			<-moved
			moved = make(chan struct{})
			go func() { defer close(moved); time.Sleep(100 * time.Millisecond); jump(t, by) }()
			j = job("while True: pass")
			j.Request.Timeout = 500 * time.Millisecond
			if r := s.run(t, j); r.Outcome != snippet.Timeout || r.DurationMS < 500 || r.DurationMS > 5000 {
				t.Errorf("a loop: %s (%s) after %v ms", r.Outcome, r.Reason, r.DurationMS)
			}
			<-moved
		})
	}
}
