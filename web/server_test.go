//go:build web

package web_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/snippet"
	"cloche/internal/sqlite"
)

// binary is the real program, built once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := filepath.Abs("../bin/web")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "cloche")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "./cmd/cloche")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return path, nil
})

// server is a process that listens on a loopback port.
type server struct {
	t          *testing.T
	cmd        *exec.Cmd
	flags      []string
	data, work string
	url        string
}

func startServer(t *testing.T, data string, flags ...string) *server {
	t.Helper()
	work, err := os.MkdirTemp("", "cloche.web.*") // as root, snippets are of another user, who may not enter t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(work) })
	if err := os.Chmod(work, 0o711); err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, data: data, work: work, flags: flags}
	s.start("127.0.0.1:0")
	t.Cleanup(s.stop)
	return s
}

func (s *server) start(addr string) {
	s.t.Helper()
	path, err := binary()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd = exec.Command(path, append([]string{"serve", "--addr", addr, "--data", s.data, "--work", s.work}, s.flags...)...)
	var log bytes.Buffer
	s.cmd.Stderr = &log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	s.url = strings.TrimPrefix(strings.TrimSpace(line), "cloche listening on ")
	if err != nil || !strings.HasPrefix(s.url, "http://127.0.0.1:") {
		s.stop()
		s.t.Fatalf("ready line %q: %v\n%s", line, err, &log)
	}
}

func (s *server) stop() {
	if s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(10*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	_ = s.cmd.Wait()
}

// addr is where it listens, to start another one there.
func (s *server) addr() string { return strings.TrimPrefix(s.url, "http://") }

func (s *server) get(path string, into any) {
	s.t.Helper()
	resp, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: status %d, %v", path, resp.StatusCode, err)
	}
}

// execute runs code and returns the status.
func (s *server) execute(code string) int {
	body, _ := json.Marshal(map[string]any{"code": code})
	resp, err := http.Post(s.url+"/execute", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// seed puts n events of the last hour into a data folder, of all reasons.
func seed(t *testing.T, data string, n int) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), data, sqlite.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for first := range 50 {
		writers.Go(func() {
			for i := first; i < n; i += 50 {
				if err := store.Record(t.Context(), seeded(i, n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// seeded is mostly OK, as life is, with durations over the whole histogram.
func seeded(i, n int) metrics.Event {
	e := metricstest.Event(i)
	e.Time = e.Time.Add(-time.Duration(n-i) * 59 * time.Minute / time.Duration(n))
	e.DurationMS = math.Pow(1.07, float64(i*37%140))
	if reasons := snippet.Reasons(); i%4 == 3 {
		e.Reason = reasons[i/4%len(reasons)]
		e.Outcome = e.Reason.Outcome()
	}
	if e.Outcome == snippet.Blocked {
		e.BlockedCount, e.Blocked = 1, "socket"
	}
	return e
}

const prefix = "/some/stage"

// proxied is the server below a path, as behind a gateway. change may rewrite
// what GET /metrics answers.
func proxied(t *testing.T, s *server, change func(map[string]any)) string {
	t.Helper()
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
	if change != nil {
		proxy.ModifyResponse = func(r *http.Response) error { return rewrite(r, change) }
	}
	mux := http.NewServeMux()
	mux.Handle(prefix+"/", http.StripPrefix(prefix, proxy))
	outer := httptest.NewServer(mux)
	t.Cleanup(outer.Close)
	return outer.URL + prefix
}

func rewrite(r *http.Response, change func(map[string]any)) error {
	if r.Request.URL.Path != "/metrics" {
		return nil
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return err
	}
	change(body)
	text, err := json.Marshal(body)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	r.Header.Set("Content-Length", fmt.Sprint(len(text)))
	return err
}
