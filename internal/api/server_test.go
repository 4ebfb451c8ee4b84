package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cloche/internal/metrics/metricstest"
	"cloche/internal/service"
	"cloche/internal/snippet"
)

// fake is a Runner for tests: it prints the code back, and can be told to wait
// or to fail.
type fake struct {
	answer func(context.Context, snippet.Job) (snippet.Result, error)

	mu   sync.Mutex
	jobs []snippet.Job
}

func (f *fake) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	f.mu.Lock()
	f.jobs = append(f.jobs, job)
	f.mu.Unlock()
	if f.answer != nil {
		return f.answer(ctx, job)
	}
	code := 0
	return snippet.Result{Outcome: snippet.OK, Reason: snippet.Completed, Stdout: job.Request.Code, ExitCode: &code, DurationMS: 1}, nil
}

func (f *fake) ran() []snippet.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]snippet.Job(nil), f.jobs...)
}

// bench is a server on a real socket with a fake runner behind it.
type bench struct {
	*httptest.Server
	inside  *server
	runner  *fake
	service *service.Service
	store   *metricstest.Memory
	log     *syncBuffer
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func pythonRuntime() snippet.Runtime {
	return snippet.Runtime{Python: "3.12.1", Layers: []snippet.Layer{{Name: "seccomp", Active: true}}}
}

// serve starts a bench; change may set what the test is about.
func serve(t *testing.T, change func(*service.Config, *Config)) *bench {
	t.Helper()
	b := &bench{runner: &fake{}, store: &metricstest.Memory{}, log: &syncBuffer{}}
	sc := service.Config{Runner: b.runner, Recorder: b.store, Log: slog.New(slog.NewJSONHandler(b.log, nil))}
	ac := Config{Reader: b.store, Policy: snippet.DefaultPolicy(), Runtime: pythonRuntime, Version: "test", Log: sc.Log}
	if change != nil {
		change(&sc, &ac)
	}
	b.service = service.New(sc)
	ac.Service = b.service
	inside, err := newServer(ac)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := inside.handler()
	if err != nil {
		t.Fatal(err)
	}
	b.inside = inside
	b.Server = httptest.NewServer(handler)
	t.Cleanup(b.Close)
	return b
}

// reply is an answer that was read to its end.
type reply struct {
	status int
	header http.Header
	body   []byte
	closed bool // the server closes the connection
}

func (r reply) problem(t *testing.T) Problem {
	t.Helper()
	var p Problem
	if err := json.Unmarshal(r.body, &p); err != nil {
		t.Fatalf("problem is not JSON: %v: %.200s", err, r.body)
	}
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("a problem with content type %q", got)
	}
	if p.Status != r.status || p.Type != "about:blank" || p.Title == "" || p.Detail == "" || p.Errors == nil {
		t.Errorf("problem is not complete: %s", r.body)
	}
	return p
}

func (r reply) fields(t *testing.T) (names []string) {
	t.Helper()
	for _, f := range r.problem(t).Errors {
		names = append(names, f.Field)
	}
	return names
}

func (b *bench) do(t *testing.T, method, path, body string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		if req.Header.Del(header[i]); header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := b.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return readReply(t, resp)
}

func (b *bench) post(t *testing.T, body string, header ...string) reply {
	t.Helper()
	return b.do(t, http.MethodPost, "/execute", body, header...)
}

func readReply(t *testing.T, resp *http.Response) reply {
	t.Helper()
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, body, resp.Close}
}

// raw is a connection on which a test writes what no client would.
type raw struct {
	net.Conn
	in *bufio.Reader
}

func (b *bench) dial(t *testing.T) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", b.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute)) // long: the machine may be busy
	return &raw{conn, bufio.NewReader(conn)}
}

func (c *raw) send(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatalf("send: %v", err)
	}
}

func (c *raw) reply(t *testing.T) reply {
	t.Helper()
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatalf("read answer: %v", err)
	}
	return readReply(t, resp)
}

const head = "POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

// eventually waits for something that another goroutine is about to do.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
