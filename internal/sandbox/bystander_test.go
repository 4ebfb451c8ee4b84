package sandbox

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cloche/internal/guard"
	"cloche/internal/snippet"
)

// bystanderTurn tells the helper process of TestBystander that it is one.
const bystanderTurn = "CLOCHE_TEST_BYSTANDER"

// busybody writes the number of every signal that it gets, SIGKILL and SIGSTOP
// apart, which nobody can catch.
const busybody = `
import os, signal, sys, time
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, lambda number, frame: os.write(1, b"signal %d\n" % number))
os.write(1, b"ready\n")
while True:
    time.sleep(60)
`

// TestBystander shows that on a person's own machine no other process of that
// person is touched, whatever the sandbox starts, runs, cleans up and closes,
// with every layer and with none.
func TestBystander(t *testing.T) {
	if os.Getenv(bystanderTurn) != "" {
		for _, w := range []weaken{{}, {guard: true, refuse: []string{guard.FeatureSeccomp, guard.FeatureLandlock}}} {
			beBusy(t, w)
		}
		return
	}
	if os.Geteuid() == 0 && !mayActForOthers() {
		t.Skip("NOT TESTED: this root cannot become another user")
	}
	p := ordinary()
	b := startBystander(t, p)
	if text, err := p.command(t, bystanderTurn+"=1").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b.check(t)
}

// beBusy goes through all that ends a process or removes a file.
func beBusy(t *testing.T, w weaken) {
	s, err := New(Config{Workers: 2, weaken: w})
	if err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]string{
		"in order": "print(1)", "endless": "while True: pass", "too large": "x = bytearray(1 << 40)",
		"a crash": "import os\nos.abort()", "an exit": "import os\nos._exit(3)",
		"a process left": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)",
		"many files":     "for i in range(200): open(str(i), 'w').close()",
		"many threads":   "import threading, time\nfor i in range(200): threading.Thread(target=time.sleep, args=(60,)).start()",
	} {
		j := job(code)
		j.Request.Timeout = 500 * time.Millisecond
		if r, err := s.Run(context.Background(), j); err != nil || r.Reason == snippet.SandboxFailure {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if template := s.living(); template != nil {
		template.kill() // another takes its place
	}
	if r, err := s.Run(context.Background(), job("print(1)")); err != nil || r.Outcome != snippet.OK {
		t.Errorf("after the template's death: %+v, %v", r, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// bystander is a process of the same person that has nothing to do with us.
type bystander struct {
	cmd  *exec.Cmd
	said string // the file that it writes
	born string // when it started, in ticks
}

func startBystander(t *testing.T, p person) *bystander {
	t.Helper()
	python, err := findPython(context.Background(), "", identity{uid: p.uid, gid: p.uid})
	if err != nil {
		t.Fatal(err)
	}
	b := &bystander{said: filepath.Join(p.folder(t), "said")}
	out, err := os.Create(b.said)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	b.cmd = exec.Command(python.Executable, "-I", "-c", busybody)
	b.cmd.Stdout, b.cmd.Stderr = out, out
	p.become(b.cmd)
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.cmd.Process.Kill(); _ = b.cmd.Wait() })
	for end := time.Now().Add(20 * time.Second); readText(b.said) != "ready\n"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the bystander did not start: %q", readText(b.said))
		}
	}
	_, b.born = b.stat(t)
	return b
}

func (b *bystander) check(t *testing.T) {
	t.Helper()
	if state, born := b.stat(t); state != "S" || born != b.born {
		t.Errorf("the bystander is in state %s, started at %s, was started at %s", state, born, b.born)
	}
	if said := readText(b.said); said != "ready\n" {
		t.Errorf("the bystander says %q", said)
	}
	priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, b.cmd.Process.Pid)
	if own, _ := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err != nil || priority != own { // it has what it got from us
		t.Errorf("the bystander's priority is %d, %v", priority, err)
	}
}

// stat reads state and start time (proc_pid_stat(5)).
func (b *bystander) stat(t *testing.T) (state, born string) {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(b.cmd.Process.Pid) + "/stat")
	if err != nil {
		t.Fatalf("the bystander is gone: %v", err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	return fields[0], fields[19]
}
