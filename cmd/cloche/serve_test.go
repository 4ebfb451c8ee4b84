//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// server is a cloche serve in a process of its own.
type server struct {
	cmd    *exec.Cmd
	url    string
	stderr logBuffer
	data   string
	work   string
}

// logBuffer can be read while the server writes.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// startServer returns when the server has said that it is ready.
func startServer(t *testing.T) *server {
	t.Helper()
	return startServerIn(t, filepath.Join(t.TempDir(), "data"), workFolder(t))
}

// startServerIn starts one in folders that may have had a server before.
func startServerIn(t *testing.T, data, work string) *server {
	t.Helper()
	return startCommand(t, data, work, "cloche")
}

// startCommand starts one by a command that ends with the program's name.
func startCommand(t *testing.T, data, work string, command ...string) *server {
	t.Helper()
	s := &server{data: data, work: work}
	command = append(command, "serve", "--addr", "127.0.0.1:0", "--data", s.data, "--work", s.work)
	s.cmd = exec.Command(command[0], command[1:]...)
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no ready line: %v\n%s", err, s.stop(t))
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "cloche listening on ")
	if !ok {
		t.Fatalf("ready line %q", line)
	}
	s.url = url
	return s
}

// workFolder is a folder that the uid of snippets can pass through: as root it is
// another one, and t.TempDir lies in a folder that is for its owner only.
func workFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cloche.test.*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// stop ends the server at once and returns its log.
func (s *server) stop(t *testing.T) string {
	t.Helper()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	return s.stderr.String()
}

// execute starts a run and returns where its HTTP status will be; 0 when the
// connection broke.
func (s *server) execute(code string) <-chan int {
	status := make(chan int, 1)
	go func() {
		resp, err := http.Post(s.url+"/execute", "application/json", strings.NewReader(`{"code":"`+code+`","timeout_ms":20000}`))
		if err != nil {
			status <- 0
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	return status
}

// end waits for the process and returns its exit status.
func (s *server) end(t *testing.T, most time.Duration) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode()
		}
		if err != nil {
			t.Fatal(err)
		}
		return 0
	case <-time.After(most):
		t.Fatalf("still running after %v", most)
		return -1
	}
}

func (s *server) signal(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// running waits until the marker that a snippet makes in its folder is there.
func (s *server) running(t *testing.T, marker string) {
	t.Helper()
	for range 200 {
		found := false
		_ = filepath.WalkDir(s.work, func(_ string, d os.DirEntry, _ error) error {
			found = found || d != nil && d.Name() == marker
			return nil
		})
		if found {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("no snippet made %s", marker)
}

func (s *server) leftovers(t *testing.T) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(s.work)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return entries
}

func TestServeLetsRunsFinish(t *testing.T) {
	s := startServer(t)
	if mode := modeOf(t, s.data); mode != 0o700 {
		t.Errorf("data folder has mode %04o, want 0700", mode)
	}
	answer := s.execute(`import time\nopen('started','w').close()\ntime.sleep(1.5)`)
	s.running(t, "started")
	s.signal(t)
	if got := <-answer; got != http.StatusOK {
		t.Errorf("the run that was on its way: HTTP %d, want 200", got)
	}
	if got := s.end(t, 5*time.Second); got != 0 {
		t.Errorf("status %d, want 0\n%s", got, s.stderr.String())
	}
	if left := s.leftovers(t); len(left) > 0 {
		t.Errorf("left in the work folder: %v", left)
	}
}

func TestServeSecondSignalEndsAtOnce(t *testing.T) {
	s := startServer(t)
	answer := s.execute(`import time\nopen('started','w').close()\ntime.sleep(19)`)
	s.running(t, "started")
	s.signal(t)
	time.Sleep(200 * time.Millisecond) // two signals at the same moment count as one
	s.signal(t)
	if got := s.end(t, 5*time.Second); got != exitFault {
		t.Errorf("status %d, want %d", got, exitFault)
	}
	<-answer
	if !strings.Contains(s.stderr.String(), "cloche: "+errEnded.Error()) {
		t.Errorf("no line says so:\n%s", s.stderr.String())
	}
	if left := s.leftovers(t); len(left) > 0 {
		t.Errorf("left in the work folder: %v", left)
	}
}

func TestServeSharesNoDataFolder(t *testing.T) {
	s := startServer(t)
	out, err := exec.Command("cloche", "serve", "--addr", "127.0.0.1:0", "--data", s.data).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is in use by another cloche server") {
		t.Errorf("a second server: %v\n%s", err, out)
	}
}
