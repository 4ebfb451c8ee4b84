package sandbox

import (
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"cloche/internal/snippet"
)

// A worn template gives way to another while runs go on, and leaves nothing.
func TestWornTemplateGivesWay(t *testing.T) {
	s := newSandbox(t, Config{Workers: 2, wear: wear{runs: 40, age: time.Hour}})
	before := s.settled(t, 2)
	seen := map[int]bool{}
	enough, end := make(chan struct{}), time.Now().Add(time.Minute)
	var callers sync.WaitGroup
	for range 3 {
		callers.Go(func() {
			for open := true; open; {
				if r := s.run(t, job("print(1)")); r.Outcome != snippet.OK || r.Stdout != "1\n" {
					t.Errorf("%+v", r)
				}
				select {
				case <-enough:
					open = false
				default:
				}
			}
		})
	}
	for len(seen) < 4 && time.Now().Before(end) {
		if template := s.living(); template != nil {
			seen[template.cmd.Process.Pid] = true
		}
		time.Sleep(10 * time.Millisecond)
	}
	close(enough)
	callers.Wait()
	s.backTo(t, before)
	if len(seen) < 4 {
		t.Errorf("%d templates in a minute, want a new one after 40 runs each", len(seen))
	}
}

// An heir leaves the cores to the runs while it starts, and starts at full speed
// once the template before it is dead.
func TestHeirAmblesUntilItIsNeeded(t *testing.T) {
	s := newSandbox(t, Config{Workers: 1, wear: wear{runs: 3, age: time.Hour, amble: time.Minute}})
	first := s.living()
	stood := 0
	for end := time.Now().Add(time.Minute); stood == 0; {
		if time.Now().After(end) {
			t.Fatal("no heir was seen standing still")
		}
		if s.turning.Load() == 0 {
			s.fine(t)
		}
		for _, p := range everyProc() {
			if _, template := templates.Load(p.pid); template && p.pid != first.cmd.Process.Pid && p.state == "T" {
				stood = p.pid
			}
		}
	}
	first.kill()
	s.fine(t)
	s.fine(t)
	for _, p := range everyProc() {
		if p.pid == stood && p.state == "T" {
			t.Error("the heir still stands")
		}
	}
}

// A run that begins ends the slice of an heir, whose next ones are rare while it
// lasts. One that need not amble any more is not held.
func TestRunsComeBeforeAnHeir(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	stands := func() bool {
		return slices.ContainsFunc(everyProc(), func(p procStat) bool { return p.pid == cmd.Process.Pid && p.state == "T" })
	}
	becomes := func(want bool) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); stands() != want; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("stands still: %v, want %v", !want, want)
			}
		}
	}
	s, a := &Sandbox{}, &ambler{process: cmd.Process}
	s.makeRoom()
	s.ambling.Store(a)
	s.makeRoom()
	becomes(true)
	a.goOn()
	becomes(false)
	s.makeRoom()
	becomes(true)
	a.release()
	becomes(false)
	s.makeRoom()
	time.Sleep(20 * time.Millisecond)
	if stands() {
		t.Error("it was held after its release")
	}
	s.running.Store(1)
	began := time.Now()
	if s.pause(nil); time.Since(began) < mostPauses*amblePause {
		t.Errorf("a pause beside a run took %s", time.Since(began))
	}
}

// One that only grew old is replaced too, with nobody asking for a run.
func TestAgedTemplateGivesWay(t *testing.T) {
	s := newSandbox(t, Config{Workers: 2, wear: wear{runs: 1000, age: 200 * time.Millisecond}})
	first := s.living().cmd.Process.Pid
	for end := time.Now().Add(20 * time.Second); s.living() == nil || s.living().cmd.Process.Pid == first; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the template is still the first one")
		}
	}
	s.fine(t)
}

// A run in flight keeps its template.
func TestRetiredTemplateLetsRunsFinish(t *testing.T) {
	s := newSandbox(t, Config{Workers: 1, wear: wear{runs: 3, age: time.Hour}})
	slow := make(chan snippet.Result, 1)
	go func() { slow <- s.run(t, job("import time\ntime.sleep(2)\nprint('done')")) }()
	for range 12 {
		s.fine(t)
	}
	if r := <-slow; r.Stdout != "done\n" {
		t.Errorf("%+v", r)
	}
	s.settled(t, 1)
}

// Callers that find no child bring more of them; later only the usual number waits.
func TestPoolGrowsAndShrinks(t *testing.T) {
	s := newSandbox(t, Config{Burst: 6})
	before := s.settled(t, max(4, runtime.NumCPU()))
	var callers sync.WaitGroup
	for range 12 {
		callers.Go(func() { s.run(t, job("import time\ntime.sleep(0.3)")) })
	}
	most := 0
	for range 100 {
		s.helpLock.Lock()
		most = max(most, s.helpers)
		s.helpLock.Unlock()
		time.Sleep(5 * time.Millisecond)
	}
	callers.Wait()
	if most == 0 || most > 6 {
		t.Errorf("%d workers came to help, want 1 to 6", most)
	}
	s.backTo(t, before)
}

// A template that started before the work base was made again has its file wall
// about the old folder: it serves nothing more.
func TestTemplateOfAnOlderBaseServesNothing(t *testing.T) {
	s := newSandbox(t, Config{Workers: 1})
	first := s.living().cmd.Process.Pid
	s.bases.Add(1)
	if heir := s.fitting(s.living()); heir != nil {
		t.Error("the old template still fits")
	}
	s.fine(t) // whoever waits is of the old base; the next one is not
	s.fine(t)
	if s.living().cmd.Process.Pid == first {
		t.Error("the template is still the first one")
	}
}
