package sandbox

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// How a template starts that nobody waits for: a slice of time, then a pause, so
// that it takes a tenth of one core and the runs beside it keep the rest. A slice
// is short beside a run, begins while there is none, unless that had to be waited
// for too often, and ends when one begins.
const (
	ambleSlice = 200 * time.Microsecond
	amblePause = 1800 * time.Microsecond
	mostPauses = 5
)

// atOnce is the hurry of a template that is waited for.
var atOnce = func() <-chan struct{} { c := make(chan struct{}); close(c); return c }()

// ambler is a process that runs in slices. A niceness would do the same only for
// one who may take it back.
type ambler struct {
	mu      sync.Mutex
	process *os.Process
	over    bool
}

// hold makes the process wait for the next slice, unless there are no more.
func (a *ambler) hold() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		_ = a.process.Signal(unix.SIGSTOP)
	}
}

func (a *ambler) goOn() { _ = a.process.Signal(unix.SIGCONT) }

// release lets the process run from now on.
func (a *ambler) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	a.goOn()
}

// amble lets a template run in slices until it has something to say, hurry is
// closed, or the longest time is over.
func (s *Sandbox) amble(t *template, hurry <-chan struct{}) {
	a := &ambler{process: t.cmd.Process}
	defer a.release()
	s.ambling.Store(a)
	defer s.ambling.Store(nil)
	said := []unix.PollFd{{Fd: int32(t.control), Events: unix.POLLIN}}
	for end := time.Now().Add(s.wear.amble); time.Now().Before(end); {
		select {
		case <-hurry:
			return
		default:
		}
		if n, err := pollFor(said, ambleSlice); n > 0 || err != nil {
			return
		}
		a.hold()
		if !s.pause(hurry) {
			return
		}
		a.goOn()
	}
}

// pause is the time between two slices. It is false when there is hurry.
func (s *Sandbox) pause(hurry <-chan struct{}) bool {
	for range mostPauses {
		select {
		case <-hurry:
			return false
		case <-time.After(amblePause):
		}
		if s.running.Load() == 0 {
			break
		}
	}
	return true
}

// makeRoom ends the slice of a template that ambles beside a run.
func (s *Sandbox) makeRoom() {
	if a := s.ambling.Load(); a != nil {
		a.hold()
	}
}
