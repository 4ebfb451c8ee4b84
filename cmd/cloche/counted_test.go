//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"cloche/internal/api"
	"cloche/internal/snippet"
)

// ask sends a request to the server and reads the whole answer.
func (s *server) ask(t *testing.T, method, path, body string, header ...string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// verdict is the answer to a request that must reach the sandbox.
func (s *server) verdict(t *testing.T, request map[string]any) (r snippet.Result) {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	status, answer := s.ask(t, http.MethodPost, "/execute", string(body))
	if err := json.Unmarshal([]byte(answer), &r); status != http.StatusOK || err != nil {
		t.Fatalf("HTTP %d, %v: %.300s", status, err, answer)
	}
	return r
}

func (s *server) counted(t *testing.T) (m api.Metrics) {
	t.Helper()
	status, answer := s.ask(t, http.MethodGet, "/metrics", "")
	if err := json.Unmarshal([]byte(answer), &m); status != http.StatusOK || err != nil {
		t.Fatalf("HTTP %d, %v: %.300s", status, err, answer)
	}
	return m
}

func (s *server) scraped(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	_, text := s.ask(t, http.MethodGet, "/metrics", "", "Accept", "text/plain")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return families
}

// samples are the counters of a scrape, by name and labels; runs in progress
// and what they wait come and go, so gauges are left out.
func samples(families map[string]*dto.MetricFamily) map[string]float64 {
	out := map[string]float64{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			key := name
			for _, l := range m.GetLabel() {
				key += " " + l.GetName() + "=" + l.GetValue()
			}
			if h := m.GetHistogram(); h != nil {
				out[key+" count"], out[key+" sum"] = float64(h.GetSampleCount()), h.GetSampleSum()
			} else if m.GetGauge() == nil {
				out[key] = m.GetCounter().GetValue()
			}
		}
	}
	return out
}

// Of one run of each outcome, each counter moves by one; a request that is
// refused is counted apart and is no run.
func TestCountersMoveByOne(t *testing.T) {
	s := startServer(t)
	want := s.counted(t)
	for _, c := range []struct {
		code   string
		reason snippet.Reason
	}{
		{"6 * 7", snippet.Completed},
		{"[][0]", snippet.Exception},
		{"import subprocess", snippet.ImportDenied},
		{"while True: pass", snippet.Deadline},
		{"print(", snippet.SyntaxError},
		{"import sys; sys.exit(9)", snippet.ExitStatus},
	} {
		r := s.verdict(t, map[string]any{"code": c.code, "timeout_ms": 400})
		if r.Reason != c.reason {
			t.Fatalf("%s: %s, want %s", c.code, r.Reason, c.reason)
		}
		if status, _ := s.ask(t, http.MethodPost, "/execute", `{"code":" "}`); status != 422 {
			t.Fatalf("HTTP %d for a blank", status)
		}
		got := s.counted(t)
		want.Executions++
		want.Outcomes[r.Outcome]++
		want.Reasons[r.Reason]++
		want.Load.Invalid++
		if got.Executions != want.Executions || got.Load != want.Load || got.Duration.Count != want.Executions ||
			!maps.Equal(got.Outcomes, want.Outcomes) || !maps.Equal(got.Reasons, want.Reasons) {
			t.Errorf("after %s: %d runs, %v, %v, %+v", c.reason, got.Executions, got.Outcomes, got.Reasons, got.Load)
		}
		if last := got.Recent[0]; last.ID != r.ID || last.Reason != r.Reason {
			t.Errorf("after %s: the newest run is %+v", c.reason, last)
		}
	}
	if status, _ := s.ask(t, http.MethodPost, "/demo", ""); status != 200 {
		t.Errorf("HTTP %d for the demo set", status)
	}
	if got := s.counted(t); got.Executions != want.Executions+16 || got.Demo != 16 || got.Outcomes[snippet.Blocked] != 1+6 {
		t.Errorf("after the demo set: %d runs, %d of it, %v", got.Executions, got.Demo, got.Outcomes)
	}
}

func TestNobodyIsInFlightAfterwards(t *testing.T) {
	s := startServer(t)
	for code, reason := range map[string]snippet.Reason{
		"import faulthandler; faulthandler._sigsegv()": snippet.Signal,
		"while True: pass":   snippet.Deadline,
		"import os":          snippet.ImportDenied,
		"bytearray(1 << 42)": snippet.MemoryLimit,
	} {
		if r := s.verdict(t, map[string]any{"code": code, "timeout_ms": 500}); r.Reason != reason {
			t.Errorf("%s: %s, want %s", code, r.Reason, reason)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/execute", strings.NewReader(`{"code":"while True: pass","timeout_ms":20000}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			t.Error("an answer to one who left")
		}
	}()
	waitFor(t, "it runs", func() bool { return s.counted(t).Load.InFlight == 1 })
	leave()
	<-gone
	waitFor(t, "its slot is free", func() bool { return s.counted(t).Load.InFlight == 0 })
	waitFor(t, "it is counted", func() bool { return s.counted(t).Reasons[snippet.Abandoned] == 1 })
	if got := s.counted(t); got.Executions != 5 || got.Load.Waiting != 0 {
		t.Errorf("%d runs, load %+v", got.Executions, got.Load)
	}
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// A run that meets its deadline took as long as that, in every form.
func TestTimeoutsAreInTheDurations(t *testing.T) {
	s := startServer(t)
	before := s.counted(t)
	r := s.verdict(t, map[string]any{"code": "while True: pass", "timeout_ms": 2000})
	after := s.counted(t)
	for what, ms := range map[string]float64{
		"the answer": r.DurationMS, "the record": after.Recent[0].DurationMS,
		"the sum": after.Duration.SumMS - before.Duration.SumMS,
	} {
		if ms < 2000 || ms > 2600 {
			t.Errorf("%s says %.1f ms", what, ms)
		}
	}
	h := s.scraped(t)["cloche_execution_duration_seconds"].GetMetric()[0].GetHistogram()
	last := h.GetBucket()[len(h.GetBucket())-1]
	if !math.IsInf(last.GetUpperBound(), 1) || last.GetCumulativeCount() != h.GetSampleCount() || h.GetSampleCount() != 1 {
		t.Errorf("the last bucket %v counts %d of %d", last.GetUpperBound(), last.GetCumulativeCount(), h.GetSampleCount())
	}
}

// While four callers run snippets no counter falls, and after them none moves.
func TestCountersNeverJump(t *testing.T) {
	s := startServer(t)
	var callers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		callers.Go(func() {
			for range 10 {
				<-s.execute("sum(range(1000))")
			}
		})
	}
	go func() { callers.Wait(); close(done) }()
	last := samples(s.scraped(t))
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		now := samples(s.scraped(t))
		for name, v := range last {
			if now[name] < v {
				t.Errorf("%s fell from %v to %v", name, v, now[name])
			}
		}
		last = now
	}
	for range 20 {
		if now := samples(s.scraped(t)); !maps.Equal(now, last) {
			t.Fatalf("moved without a run: %v, then %v", last, now)
		}
	}
	if got := last["cloche_executions_total outcome=OK reason=completed"]; got != 40 {
		t.Errorf("%v runs, want 40", got)
	}
}

// Whatever comes in, the series stay the same ones.
func TestSeriesStayTheSame(t *testing.T) {
	s := startServer(t)
	series := func() (n int) {
		for _, f := range s.scraped(t) {
			n += len(f.GetMetric())
		}
		return n
	}
	before := series()
	for i := range 200 {
		evil := fmt.Sprintf("evil%d\"} 1\n# TYPE evil counter\nevil{x=\"", i)
		body, _ := json.Marshal(map[string]any{
			"code":  fmt.Sprintf("import %s\n# %s", []string{"os", "json", "ctypes", "no_such_module_" + fmt.Sprint(i)}[i%4], evil),
			"files": []any{map[string]string{"path": fmt.Sprintf("x\"} %d", i), "content": evil}},
		})
		s.ask(t, http.MethodPost, "/execute", string(body), "X-Request-Id", fmt.Sprint("r-", i), "User-Agent", `evil"}`)
		s.ask(t, http.MethodPost, "/execute", evil, "X-Request-Id", `evil"}`)
		s.ask(t, http.MethodPut, fmt.Sprintf("/evil%d", i), "")
	}
	if after := series(); after != before {
		t.Errorf("%d series, %d before", after, before)
	}
	if got := s.counted(t); got.Executions != 200 || got.Load.Invalid != 400 {
		t.Errorf("%d runs, %d invalid requests", got.Executions, got.Load.Invalid)
	}
}
