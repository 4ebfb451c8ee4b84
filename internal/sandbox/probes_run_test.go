package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cloche/internal/snippet"
)

// probeTimeout is long: most probes need a few milliseconds, a hunt a second, and
// the machine may be so busy that they get a hundredth of a processor.
const probeTimeout = 3 * time.Minute

// measure runs every probe in one sandbox.
func (w *world) measure(t *testing.T, set probeSet, probes []probe) findings {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler) // the probes make many a line
	s, err := New(Config{Workers: 4, WorkBase: w.dir, Log: quiet, Sole: set.sole, weaken: set.weaken})
	if err != nil {
		t.Fatalf("%s: %v", set.name, err)
	}
	earlier := job("print('" + marker + "', input())")
	earlier.Request.Stdin = marker + "\n"
	if r := s.run(t, earlier); r.Outcome != snippet.OK {
		t.Fatalf("%s: %+v", set.name, r)
	}
	m := &measurement{world: w, set: set, box: s, found: findings{}, memory: (<-s.current).size + snippet.DefaultLimits().Memory}
	m.all(t, probes)
	s.discard(m.sibling)
	if err := s.Close(); err != nil {
		t.Errorf("%s: close: %v", set.name, err)
	}
	return m.found
}

// measurement is one sandbox with the probes' results so far.
type measurement struct {
	world   *world
	set     probeSet
	box     *Sandbox
	memory  int64 // bytes of address space that a run may have in all
	sibling *child

	mu    sync.Mutex
	found findings
}

// all runs the probes side by side, unless the sandbox runs them one by one.
func (m *measurement) all(t *testing.T, probes []probe) {
	t.Helper()
	if m.box.layers.forks() {
		for _, p := range probes {
			m.one(p, m.scene(t, p).program(t, p))
		}
		return
	}
	queue := make(chan func())
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for one := range queue {
				one()
			}
		})
	}
	for _, p := range probes {
		program := m.scene(t, p).program(t, p)
		queue <- func() { m.one(p, program) }
	}
	close(queue)
	workers.Wait()
}

func (m *measurement) one(p probe, program string) {
	answer := m.answer
	if p.lies {
		answer = func(program string) string { return m.lie(p, program) }
	}
	line := answer(program)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found.set(p.name, m.set.name+"/"+m.world.who, line)
}

func (m *measurement) answer(program string) string {
	j := job(program)
	j.Request.Timeout, j.Request.Stdin = probeTimeout, "input\n"
	r, err := m.box.Run(context.Background(), j)
	if err != nil {
		return err.Error()
	}
	if r.Signal != nil && *r.Signal == unix.SignalName(unix.SIGSYS) {
		return "HELD killed by SIGSYS"
	}
	lines := r.Stdout
	if r.Value != nil { // a forged report without the token says PASSED there
		lines += *r.Value + "\n"
	}
	return oneLine(lines, string(r.Reason)+": "+r.Stderr)
}

// scene is made anew for each probe: without a filter, a probe may have cost the
// template and the other run their lives.
func (m *measurement) scene(t *testing.T, p probe) scene {
	t.Helper()
	if m.sibling == nil || !m.sibling.template.alive() {
		if m.sibling != nil {
			m.box.discard(m.sibling)
		}
		m.sibling = m.another(t)
		m.world.leaveSecret(t, m.sibling.layers.identity, m.sibling.work())
	}
	sc := scene(maps.Clone(m.world.what))
	maps.Copy(sc, scene{
		"server": os.Getpid(), "template": m.sibling.template.cmd.Process.Pid, "sibling": m.sibling.pid,
		"sibling_work": m.sibling.work(), "base": m.box.base,
		"outside": m.world.outside(t, m.box.layers.identity, m.set.name, p.name),
	})
	return sc
}

// another makes a child that stays. A template that has just died may be offered
// once more.
func (m *measurement) another(t *testing.T) *child {
	t.Helper()
	var err error
	for range 10 {
		var c *child
		if c, err = m.box.spawnInTurn(<-m.box.current); err == nil {
			return c
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s: another run: %v", m.set.name, err)
	return nil
}

// oneLine is the line of a probe's output, or what is wrong with it.
func oneLine(output, otherwise string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if len(lines) != 1 || lines[0] == "" {
		return "not one line: " + strings.TrimSpace(output) + " " + otherwise
	}
	return lines[0]
}

// control runs every probe as an ordinary Python program, with three more
// processes in the places of the server, the template and another run.
func (w *world) control(t *testing.T, probes []probe) findings {
	t.Helper()
	python, err := findPython(context.Background(), "", w.id)
	w.must(t, err)
	sibling := w.bareFolder(t)
	sc := scene(maps.Clone(w.what))
	maps.Copy(sc, scene{"sibling_work": sibling, "base": filepath.Dir(filepath.Dir(sibling))})
	for _, role := range []string{"server", "template", "sibling"} {
		cmd := exec.Command(python.Executable, "-I", "-c", "import time; time.sleep(600)")
		cmd.Dir = sibling
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		w.must(t, cmd.Start())
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		sc[role] = cmd.Process.Pid
	}
	found := findings{}
	for _, p := range probes {
		sc["outside"] = w.outside(t, w.id, unconfined, p.name)
		found.set(p.name, unconfined, w.bare(t, python.Executable, sc, p))
	}
	return found
}

// bareFolder makes a folder like a run's, beside others.
func (w *world) bareFolder(t *testing.T) string {
	t.Helper()
	return w.outside(t, w.id, "bare", filepath.Join("run-"+rand.Text(), "work"))
}

// bare runs a probe with nothing around it, with descriptors like a child's and
// one more.
func (w *world) bare(t *testing.T, python string, sc scene, p probe) string {
	t.Helper()
	dir := w.bareFolder(t)
	for name, text := range map[string]string{"probe.py": sc.program(t, p), "input": "input\n"} {
		w.must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	input, err := os.OpenFile(filepath.Join(dir, "input"), os.O_RDWR, 0)
	w.must(t, err)
	defer input.Close()
	ours, theirs, err := channel()
	w.must(t, err)
	defer closeFDs(ours)
	channel := os.NewFile(uintptr(theirs), "channel")
	defer channel.Close()
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-I", "probe.py")
	cmd.Dir, cmd.Stdin, cmd.ExtraFiles = dir, input, []*os.File{channel, input}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) || err == nil {
		return oneLine(stdout.String(), stderr.String())
	}
	return err.Error()
}
