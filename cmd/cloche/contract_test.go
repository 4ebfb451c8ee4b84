//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"cloche/internal/api"
	"cloche/internal/sandbox"
	"cloche/internal/service"
	"cloche/internal/snippet"
	"cloche/internal/sqlite"
)

// whole is the HTTP surface with everything real behind it, on a socket.
type whole struct {
	*httptest.Server
	service *service.Service
	runner  *counter
}

// counter counts the jobs that reach the sandbox.
type counter struct {
	*sandbox.Sandbox
	jobs atomic.Int64
}

func (c *counter) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	c.jobs.Add(1)
	return c.Sandbox.Run(ctx, job)
}

func serveWhole(t *testing.T, change func(*service.Config)) *whole {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	box, err := sandbox.New(sandbox.Config{Log: log, WorkBase: workFolder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "cloche.db"), sqlite.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w := &whole{runner: &counter{Sandbox: box}}
	cfg := service.Config{Runner: w.runner, Recorder: store, Policy: snippet.DefaultPolicy(), Log: log}
	if change != nil {
		change(&cfg)
	}
	w.service = service.New(cfg)
	handler, err := api.New(api.Config{Service: w.service, Reader: store, Policy: cfg.Policy, Runtime: box.Runtime, Version: "test", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	w.Server = httptest.NewServer(handler)
	t.Cleanup(w.Close)
	return w
}

// answered is an answer that was read to its end.
type answered struct {
	status int
	header http.Header
	body   []byte
	length int64 // Content-Length
	took   time.Duration
}

func (w *whole) post(t *testing.T, contentType, body string) answered {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, w.URL+"/execute", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	began := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	a := drain(t, resp)
	a.took = time.Since(began)
	return a
}

func drain(t *testing.T, resp *http.Response) answered {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{status: resp.StatusCode, header: resp.Header, body: body, length: resp.ContentLength}
}

// execute posts a request that must reach the sandbox.
func (w *whole) execute(t *testing.T, request map[string]any) (snippet.Result, answered) {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	a := w.post(t, "application/json", string(body))
	if a.status != http.StatusOK {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return a.result(t), a
}

func (a answered) result(t *testing.T) snippet.Result {
	t.Helper()
	var r snippet.Result
	if err := json.Unmarshal(a.body, &r); err != nil {
		t.Fatalf("%v: %.300s", err, a.body)
	}
	return r
}

// A request is refused with the names of the fields that are wrong, without
// repeating what was in them, and then nothing ran; or it runs as it says.
func TestRequestsRefusedOrRun(t *testing.T) {
	w := serveWhole(t, nil)
	const isJSON = "application/json"
	for _, c := range []struct {
		name, contentType, body string
		status                  int
		fields                  []string // refused
		stdout                  string   // of the run, if it ran
	}{
		{"no code", isJSON, `{}`, 422, []string{"code"}, ""},
		{"something else", isJSON, `{"source":"print(6)"}`, 422, []string{"code", "source"}, ""},
		{"code is null", isJSON, `{"code":null}`, 422, []string{"code"}, ""},
		{"code is a number", isJSON, `{"code":6}`, 422, []string{"code"}, ""},
		{"code is a list", isJSON, `{"code":["print(6)"]}`, 422, []string{"code"}, ""},
		{"code is blank", isJSON, `{"code":"\ufeff \n\t"}`, 422, []string{"code"}, ""},
		{"NUL in the code", isJSON, `{"code":"print(6)\u0000print(7)"}`, 422, []string{"code"}, ""},
		{"half a surrogate pair", isJSON, `{"code":"print('\ud83d')"}`, 400, nil, ""},
		{"both halves", isJSON, `{"code":"print(len('\ud83d\udc22'))"}`, 200, nil, "1\n"},
		{"timeout 0", isJSON, `{"code":"print(6)","timeout_ms":0}`, 422, []string{"timeout_ms"}, ""},
		{"timeout -0.0", isJSON, `{"code":"print(6)","timeout_ms":-0.0}`, 422, []string{"timeout_ms"}, ""},
		{"timeout negative", isJSON, `{"code":"print(6)","timeout_ms":-5000}`, 422, []string{"timeout_ms"}, ""},
		{"timeout in text", isJSON, `{"code":"print(6)","timeout_ms":"5000"}`, 422, []string{"timeout_ms"}, ""},
		{"timeout in a list", isJSON, `{"code":"print(6)","timeout_ms":[5000]}`, 422, []string{"timeout_ms"}, ""},
		{"timeout an object", isJSON, `{"code":"print(6)","timeout_ms":{}}`, 422, []string{"timeout_ms"}, ""},
		{"timeout true", isJSON, `{"code":"print(6)","timeout_ms":true}`, 422, []string{"timeout_ms"}, ""},
		{"timeout broken", isJSON, `{"code":"print(6)","timeout_ms":1500.5}`, 422, []string{"timeout_ms"}, ""},
		{"timeout too long", isJSON, `{"code":"print(6)","timeout_ms":20001}`, 422, []string{"timeout_ms"}, ""},
		{"timeout absurd", isJSON, `{"code":"print(6)","timeout_ms":1e400}`, 422, []string{"timeout_ms"}, ""},
		{"timeout no number", isJSON, `{"code":"print(6)","timeout_ms":NaN}`, 400, nil, ""},
		{"timeout null", isJSON, `{"code":"print(6)","timeout_ms":null}`, 200, nil, "6\n"},
		{"timeout with an exponent", isJSON, `{"code":"print(6)","timeout_ms":5e3}`, 200, nil, "6\n"},
		{"null for all that may be left out", isJSON, `{"code":"print(6)","stdin":null,"files":null}`, 200, nil, "6\n"},
		{"a name twice", isJSON, `{"code":"print(6)","code":"print(7)"}`, 400, nil, ""},
		{"a name twice, once escaped", isJSON, `{"code":"print(6)","\u0063ode":"print(7)"}`, 400, nil, ""},
		{"a name in capitals", isJSON, `{"code":"print(6)","Code":"print(7)"}`, 422, []string{"Code"}, ""},
		{"an unknown field", isJSON, `{"code":"print(6)","more":{"a":[1]}}`, 422, []string{"more"}, ""},
		{"fields that would steer the child", isJSON, `{"code":"print(6)","env":{"LD_PRELOAD":"x"},"args":["-c"],"cwd":"/","python":"/bin/sh","user":0}`, 422, []string{"args", "cwd", "env", "python", "user"}, ""},
		{"an unknown field of a file", isJSON, `{"code":"print(6)","files":[{"path":"a","content":"","encoding":"utf-8","mode":511}]}`, 422, []string{"files[0].mode"}, ""},
		{"a file where a folder must be", isJSON, `{"code":"print(6)","files":[{"path":"d/x","content":"","encoding":"utf-8"},{"path":"d","content":"","encoding":"utf-8"}]}`, 422, []string{"files[0].path"}, ""},
		{"a folder where a file must be", isJSON, `{"code":"print(6)","files":[{"path":"d","content":"","encoding":"utf-8"},{"path":"d/x/y","content":"","encoding":"utf-8"}]}`, 422, []string{"files[1].path"}, ""},
		{"a file twice", isJSON, `{"code":"print(6)","files":[{"path":"d","content":"","encoding":"utf-8"},{"path":"d","content":"","encoding":"utf-8"}]}`, 422, []string{"files[1].path"}, ""},
		{"a file above the folder", isJSON, `{"code":"print(6)","files":[{"path":"a/../../up","content":"","encoding":"utf-8"}]}`, 422, []string{"files[0].path"}, ""},
		{"another type", "application/xml", `{"code":"print(6)"}`, 415, nil, ""},
		{"no type", "", `{"code":"print(6)"}`, 415, nil, ""},
		{"a form", "application/x-www-form-urlencoded", "code=print(6)", 415, nil, ""},
		{"a form's type with JSON", "application/x-www-form-urlencoded", `{"code":"print(6)"}`, 415, nil, ""},
		{"text", "text/plain", `{"code":"print(6)"}`, 415, nil, ""},
		{"another character set", "application/json; charset=utf-16", `{"code":"print(6)"}`, 415, nil, ""},
		{"the character set said", `application/json; charset="UTF-8"`, `{"code":"print(6)"}`, 200, nil, "6\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := w.runner.jobs.Load()
			a := w.post(t, c.contentType, c.body)
			ran := w.runner.jobs.Load() - before
			if a.status != c.status {
				t.Fatalf("HTTP %d, want %d: %s", a.status, c.status, a.body)
			}
			if c.status == http.StatusOK {
				if r := a.result(t); r.Outcome != snippet.OK || r.Stdout != c.stdout || ran != 1 {
					t.Errorf("%s, stdout %q, %d runs", r.Outcome, r.Stdout, ran)
				}
				return
			}
			a.refuses(t, c.fields)
			if ran != 0 {
				t.Error("it ran")
			}
		})
	}
	if r, _ := w.execute(t, map[string]any{"code": "print(40+2)"}); r.Stdout != "42\n" {
		t.Errorf("the next request: %+v", r)
	}
}

// refuses holds a problem document to the fields that it must name.
func (a answered) refuses(t *testing.T, fields []string) {
	t.Helper()
	var p api.Problem
	if err := json.Unmarshal(a.body, &p); err != nil || a.header.Get("Content-Type") != "application/problem+json" || p.Status != a.status || p.Detail == "" {
		t.Errorf("no problem document: %v: %s", err, a.body)
	}
	var named []string
	for _, e := range p.Errors {
		named = append(named, e.Field)
	}
	slices.Sort(named)
	if !slices.Equal(named, fields) {
		t.Errorf("it names %v, want %v", named, fields)
	}
	if bytes.Contains(a.body, []byte("print(")) {
		t.Errorf("it repeats the source: %s", a.body)
	}
}

// Every outcome has every key of the contract, in the same types.
func TestAnswersHaveOneShape(t *testing.T) {
	w := serveWhole(t, nil)
	shape := map[string]reflect.Kind{}
	for _, c := range []struct {
		code   string
		reason snippet.Reason
	}{
		{"print(1)", snippet.Completed},
		{"import sys\nsys.exit(3)", snippet.ExitStatus},
		{"1/0", snippet.Exception},
		{"(", snippet.SyntaxError},
		{"import os", snippet.ImportDenied},
		{"open('/etc/passwd')", snippet.OperationDenied},
		{"while True: pass", snippet.Deadline},
		{"x = 'x' * (1 << 32)", snippet.MemoryLimit},
		{"import faulthandler\nfaulthandler._sigsegv()", snippet.Signal},
	} {
		r, a := w.execute(t, map[string]any{"code": c.code, "timeout_ms": 1500})
		if r.Reason != c.reason {
			t.Errorf("%q: %s, want %s", c.code, r.Reason, c.reason)
		}
		var keys map[string]any
		if err := json.Unmarshal(a.body, &keys); err != nil {
			t.Fatal(err)
		}
		for key, v := range keys {
			kind := reflect.ValueOf(v).Kind()
			if first, known := shape[key]; known && kind != reflect.Invalid && first != reflect.Invalid && kind != first {
				t.Errorf("%q: %s is a %v, elsewhere a %v", c.code, key, kind, first)
			}
			if shape[key] == reflect.Invalid {
				shape[key] = kind
			}
			if v == nil && !slices.Contains([]string{"value", "error", "exit_code", "signal"}, key) {
				t.Errorf("%q: %s is null", c.code, key)
			}
		}
		if !slices.Equal(slices.Sorted(maps.Keys(keys)), keysOf(t)) {
			t.Errorf("%q: keys %v", c.code, slices.Sorted(maps.Keys(keys)))
		}
		if (r.ExitCode == nil) == (r.Signal == nil) {
			t.Errorf("%q: exit code and signal are not one of two: %s", c.code, a.body)
		}
		if r.DurationMS <= 0 || r.DurationMS > milliseconds(a.took) {
			t.Errorf("%q: duration %v ms, and the caller waited %v", c.code, r.DurationMS, a.took)
		}
	}
}

// keysOf lists the keys of the contract.
func keysOf(t *testing.T) []string {
	t.Helper()
	text, err := json.Marshal(snippet.Result{Outcome: snippet.OK})
	var keys map[string]any
	if err != nil || json.Unmarshal(text, &keys) != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(keys))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Answers are JSON in UTF-8 with their length, whatever is in them.
func TestAnswersAreJSON(t *testing.T) {
	w := serveWhole(t, nil)
	for _, code := range []string{
		"print('漢🐢' * 300)", "print('a' + chr(0xD800))", "import sys\nsys.stdout.buffer.write(bytes(range(256)))",
		"print('</script>&\\u2028')", "raise ValueError(chr(0xDC80))", "open(b'n\\xff\\n', 'wb').write(bytes(range(256)))",
		"print('x' * 100000)", "import sys\nfor _ in range(5000): print('é' * 99, file=sys.stderr)",
	} {
		r, a := w.execute(t, map[string]any{"code": code})
		if a.header.Get("Content-Type") != "application/json" || a.length != int64(len(a.body)) || !utf8.Valid(a.body) {
			t.Errorf("%q: content type %q, length %d of %d bytes, UTF-8 %v", code, a.header.Get("Content-Type"), a.length, len(a.body), utf8.Valid(a.body))
		}
		if r.Outcome == "" {
			t.Errorf("%q: no outcome", code)
		}
	}
}

// The time of a run is its own: what it slept, and no more than the caller saw.
func TestDurationIsPlausible(t *testing.T) {
	w := serveWhole(t, nil)
	const slept = 300
	r, a := w.execute(t, map[string]any{"code": fmt.Sprintf("import time\ntime.sleep(%d / 1000)", slept)})
	if r.Outcome != snippet.OK || r.DurationMS < slept || r.DurationMS > milliseconds(a.took) {
		t.Errorf("%s, duration %v ms, and the caller waited %v", r.Outcome, r.DurationMS, a.took)
	}
	if r.CPUMS > r.DurationMS {
		t.Errorf("a sleeper used %v ms of CPU in %v ms", r.CPUMS, r.DurationMS)
	}
}

// Binary files go in and out unharmed on the wire.
func TestFilesOnTheWire(t *testing.T) {
	w := serveWhole(t, nil)
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	r, _ := w.execute(t, map[string]any{
		"code":  "data = open('in.bin', 'rb').read()\nopen('out.bin', 'wb').write(data[::-1])",
		"files": []any{map[string]any{"path": "in.bin", "content": base64.StdEncoding.EncodeToString(every), "encoding": "base64"}},
	})
	slices.Reverse(every)
	if len(r.Files) != 1 || r.Files[0].Content == nil || r.Files[0].Encoding != "base64" || *r.Files[0].Content != base64.StdEncoding.EncodeToString(every) {
		t.Errorf("files %+v, stderr %q", r.Files, r.Stderr)
	}
}

// Under overload every request is run in full or refused at once: waiting does
// not eat a run's time, and afterwards every slot is back.
func TestOverload(t *testing.T) {
	const slots, room, callers = 2, 8, 40
	w := serveWhole(t, func(c *service.Config) { c.Concurrency, c.Queue, c.Wait = slots, room, 20*time.Second })
	type result struct {
		answered
		order int64
	}
	var order atomic.Int64
	results := make(chan result, callers)
	for range callers {
		go func() {
			a := w.post(t, "application/json", `{"code":"import time\ntime.sleep(0.5)\nprint('done')","timeout_ms":2000}`)
			results <- result{a, order.Add(1)}
		}()
	}
	var ran, refused int
	var lastRefusal, lastRun int64
	for range callers {
		a := <-results
		switch a.status {
		case http.StatusOK:
			ran++
			lastRun = max(lastRun, a.order)
			if r := a.result(t); r.Outcome != snippet.OK || r.Stdout != "done\n" {
				t.Errorf("a run that was let in: %s (%s), stdout %q", r.Outcome, r.Reason, r.Stdout)
			}
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			refused++
			lastRefusal = max(lastRefusal, a.order)
			if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || seconds < 1 {
				t.Errorf("refused with Retry-After %q", a.header.Get("Retry-After"))
			}
			a.refuses(t, nil)
		default:
			t.Errorf("HTTP %d: %s", a.status, a.body)
		}
	}
	if ran < slots+room || refused == 0 || lastRefusal > lastRun {
		t.Errorf("%d ran, %d refused, the last refusal came as answer %d, the last run as %d", ran, refused, lastRefusal, lastRun)
	}
	if load := w.service.Load(); load.InFlight != 0 || load.Waiting != 0 {
		t.Errorf("afterwards: %+v", load)
	}
	together := make(chan answered, slots)
	for range slots {
		go func() { together <- w.post(t, "application/json", `{"code":"print(1)"}`) }()
	}
	for range slots {
		if a := <-together; a.status != http.StatusOK {
			t.Errorf("afterwards: HTTP %d", a.status)
		}
	}
}

// The server answers for itself while every slot is busy with a loop.
func TestHealthWhileBusy(t *testing.T) {
	const slots = 4
	w := serveWhole(t, func(c *service.Config) { c.Concurrency = slots })
	busy := make(chan snippet.Result, slots)
	for range slots {
		go func() {
			a := w.post(t, "application/json", `{"code":"while True: pass","timeout_ms":4000}`)
			busy <- a.result(t)
		}()
	}
	for end := time.Now().Add(20 * time.Second); w.service.Load().InFlight < slots; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the slots did not fill: %+v", w.service.Load())
		}
	}
	var slowest time.Duration
	for range 20 {
		began := time.Now()
		resp, err := http.Get(w.URL + "/health")
		if err != nil {
			t.Fatal(err)
		}
		if a := drain(t, resp); a.status != http.StatusOK || !bytes.Contains(a.body, []byte(`"live":true`)) {
			t.Errorf("HTTP %d: %s", a.status, a.body)
		}
		slowest = max(slowest, time.Since(began))
	}
	if len(busy) > 0 {
		t.Errorf("the loops ended before 20 answers were there; the slowest took %v", slowest)
	}
	for range slots {
		if r := <-busy; r.Outcome != snippet.Timeout {
			t.Errorf("a loop: %s (%s)", r.Outcome, r.Reason)
		}
	}
}

// After a request that was refused with its body unread, the connection still
// works or is closed; an answer never belongs to another request.
func TestConnectionAfterRefusal(t *testing.T) {
	w := serveWhole(t, nil)
	address := w.Listener.Addr().String()
	body := strings.Repeat("x", 3<<20)
	for name, c := range map[string]struct {
		head   string
		status int
	}{
		"type":   {"POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n", 415},
		"host":   {"POST /execute HTTP/1.1\r\nHost: example.com\r\nContent-Type: application/json\r\n", 403},
		"origin": {"POST /execute HTTP/1.1\r\nHost: localhost\r\nOrigin: http://example.com\r\nSec-Fetch-Site: cross-site\r\nContent-Type: application/json\r\n", 403},
		"path":   {"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n", 404},
		"method": {"PUT /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n", 405},
		"syntax": {"POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n", 400},
		"name":   {"POST /execute HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: a b\r\nContent-Type: application/json\r\n", 422},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
			next := `{"code":"print('next')"}`
			go func() {
				// A server that closes early makes these writes fail, as it may.
				_, _ = fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", c.head, len(body), body)
				_, _ = fmt.Fprintf(conn, "POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(next), next)
			}()
			answers := bufio.NewReader(conn)
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			if a := drain(t, resp); a.status != c.status {
				t.Errorf("HTTP %d, want %d: %s", a.status, c.status, a.body)
			}
			if resp.Close {
				return
			}
			resp, err = http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("the connection was not called closed: %v", err)
			}
			if a := drain(t, resp); a.status != http.StatusOK || a.result(t).Stdout != "next\n" {
				t.Errorf("the next request: HTTP %d: %s", a.status, a.body)
			}
		})
	}
}

// A body that comes in pieces of one byte is a body.
func TestChunkedBody(t *testing.T) {
	w := serveWhole(t, nil)
	conn, err := net.Dial("tcp", w.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprint(conn, "POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	for _, b := range []byte(`{"code":"print('é')"}`) {
		_, _ = conn.Write([]byte{'1', '\r', '\n', b, '\r', '\n'})
	}
	fmt.Fprint(conn, "0\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := drain(t, resp); a.status != http.StatusOK || a.result(t).Stdout != "é\n" {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
}
