package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"cloche/functions"
	"cloche/internal/config"
	"cloche/internal/gateway"
	"cloche/internal/guard"
	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/sandbox"
	"cloche/internal/service"
	"cloche/internal/snippet"
)

var box *sandbox.Sandbox // real, shared by all tests

func TestMain(m *testing.M) {
	guard.Main()
	var err error
	if box, err = sandbox.New(sandbox.Config{Workers: 2, Log: slog.New(slog.DiscardHandler)}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = box.Close()
	os.Exit(code)
}

// function is the execute function with a store that a test can read.
type function struct {
	handler *gateway.Handler
	store   *metricstest.Memory
	log     *bytes.Buffer
}

func newFunction(t *testing.T) *function {
	t.Helper()
	settings, err := config.ForLambda()
	if err != nil {
		t.Fatal(err)
	}
	settings.Namespace = "Cloche/test"
	f := &function{store: &metricstest.Memory{}, log: &bytes.Buffer{}}
	log := slog.New(slog.NewJSONHandler(f.log, nil))
	handler, err := build(functions.Parts{Settings: settings, Log: log, Store: f.store}, gateway.Fitted{Box: box}, f.log)
	if err != nil {
		t.Fatal(err)
	}
	f.handler = gateway.New(handler, log)
	return f
}

// response is what API Gateway gets.
type response struct {
	StatusCode        int
	MultiValueHeaders http.Header
	Body              string
}

func (f *function) invoke(t *testing.T, remaining time.Duration, payload []byte) response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), remaining)
	defer cancel()
	out, err := f.handler.Invoke(ctx, payload)
	if err != nil {
		t.Fatal(err)
	}
	var r response
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %.200s", err, out)
	}
	return r
}

func (f *function) events(t *testing.T) []metrics.Event {
	t.Helper()
	page, err := f.store.Events(t.Context(), metrics.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return page.Events
}

const whole = 28 * time.Second // what the template gives the function

func sample(t *testing.T, name string) []byte {
	t.Helper()
	payload, err := os.ReadFile("../../events/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func TestSampleEvents(t *testing.T) {
	for name, want := range map[string]struct {
		status int
		reason snippet.Reason
		stdout string
	}{
		"execute-ok.json":        {200, snippet.Completed, `{"glass": 5, "bell": 4, "seedling": 8}` + "\n"},
		"execute-base64.json":    {200, snippet.Completed, "grüße\n"},
		"execute-blocked.json":   {200, snippet.ImportDenied, ""},
		"execute-timeout.json":   {200, snippet.Deadline, ""},
		"execute-error.json":     {200, snippet.Exception, ""},
		"execute-malformed.json": {400, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFunction(t)
			r := f.invoke(t, whole, sample(t, name))
			if r.StatusCode != want.status {
				t.Fatalf("status %d: %s", r.StatusCode, r.Body)
			}
			events := f.events(t)
			if want.reason == "" {
				if r.MultiValueHeaders.Get("Content-Type") != "application/problem+json" || len(events) != 0 {
					t.Errorf("headers %v, events %v", r.MultiValueHeaders, events)
				}
				return
			}
			var result snippet.Result
			if err := json.Unmarshal([]byte(r.Body), &result); err != nil || result.Reason != want.reason ||
				(want.stdout != "" && result.Stdout != want.stdout) {
				t.Errorf("%v: %s", err, r.Body)
			}
			if len(events) != 1 || events[0].ID != result.ID || events[0].Tenant != "default" {
				t.Errorf("events %+v", events)
			}
			f.checkLog(t, result)
		})
	}
}

// checkLog wants one line for the run and one for CloudWatch.
func (f *function) checkLog(t *testing.T, result snippet.Result) {
	t.Helper()
	var runs, counts int
	for line := range strings.Lines(f.log.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		if m["_aws"] != nil && m["Reason"] == string(result.Reason) {
			counts++
		}
		if m["msg"] == "run" && m["id"] == result.ID {
			runs++
		}
	}
	if runs != 1 || counts != 1 {
		t.Errorf("%d lines of the run and %d of metrics in\n%s", runs, counts, f.log)
	}
}

func TestSampleDemo(t *testing.T) {
	f := newFunction(t)
	r := f.invoke(t, whole, sample(t, "execute-demo.json"))
	var report service.DemoReport
	if err := json.Unmarshal([]byte(r.Body), &report); err != nil || r.StatusCode != 200 || !report.AsExpected {
		t.Errorf("status %d, %v: %s", r.StatusCode, err, r.Body)
	}
	if events := f.events(t); len(events) != len(service.DemoSet()) {
		t.Errorf("%d events", len(events))
	}
}

// request is an event of POST /execute with a body of any kind.
func request(t *testing.T, body any, encoded bool) []byte {
	t.Helper()
	payload, err := json.Marshal(map[string]any{
		"resource": "/execute", "path": "/execute", "httpMethod": "POST",
		"headers":           map[string]string{"Content-Type": "application/json"},
		"multiValueHeaders": map[string][]string{"Content-Type": {"application/json"}},
		"requestContext":    map[string]string{"resourcePath": "/execute", "httpMethod": "POST", "path": "/prod/execute", "stage": "prod"},
		"isBase64Encoded":   encoded, "body": body,
	})
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func TestBodies(t *testing.T) {
	for name, test := range map[string]struct {
		payload []byte
		status  int
	}{
		"encoded":     {request(t, "eyJjb2RlIjogInByaW50KDQyKSJ9", true), 200},
		"none":        {request(t, nil, false), 400},
		"half":        {request(t, "{", false), 400},
		"bad base64":  {request(t, "!!", true), 400},
		"empty event": {[]byte(`{}`), 404},
		"large code":  {request(t, `{"code": "#`+strings.Repeat("p", 200_000)+`\nprint(7)"}`, false), 422},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFunction(t)
			r := f.invoke(t, whole, test.payload)
			if r.StatusCode != test.status || (test.status == 200) != strings.Contains(r.Body, `"stdout":"42\n"`) {
				t.Errorf("status %d: %.300s", r.StatusCode, r.Body)
			}
			if n := len(f.events(t)); (n == 1) != (test.status == 200) {
				t.Errorf("%d events", n)
			}
		})
	}
}

// A run that may not end in time does not begin, and is never cut short.
func TestTooLittleTime(t *testing.T) {
	f := newFunction(t)
	began := time.Now()
	r := f.invoke(t, 15*time.Second, request(t, `{"code": "while True: pass", "timeout_ms": 20000}`, false))
	if r.StatusCode != http.StatusServiceUnavailable || r.MultiValueHeaders.Get("Retry-After") == "" || time.Since(began) > 10*time.Second {
		t.Errorf("status %d, headers %v after %v", r.StatusCode, r.MultiValueHeaders, time.Since(began))
	}
	if events := f.events(t); len(events) != 0 {
		t.Errorf("events %+v", events)
	}
	if r := f.invoke(t, whole, request(t, `{"code": "1", "timeout_ms": 20000}`, false)); r.StatusCode != 200 {
		t.Errorf("with all the time there is: status %d: %s", r.StatusCode, r.Body)
	}
}

// An answer that Lambda would not take has no contents instead.
func TestLargeAnswer(t *testing.T) {
	f := newFunction(t)
	r := f.invoke(t, whole, request(t, `{"code": "open('a', 'w').write('\"' * 3_000_000)"}`, false))
	var result snippet.Result
	if err := json.Unmarshal([]byte(r.Body), &result); err != nil || result.Reason != snippet.Completed ||
		len(result.Files) != 1 || result.Files[0].Omitted == "" || result.Files[0].Size != 3_000_000 {
		t.Errorf("status %d, %v: %.300s", r.StatusCode, err, r.Body)
	}
}
