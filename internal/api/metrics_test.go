package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"cloche/internal/metrics"
	"cloche/internal/service"
	"cloche/internal/snippet"
)

// counted is what GET /metrics says in JSON.
func (b *bench) counted(t *testing.T) (m Metrics) {
	t.Helper()
	r := b.do(t, http.MethodGet, "/metrics", "")
	if err := json.Unmarshal(r.body, &m); r.status != 200 || err != nil || r.header.Get("Content-Type") != jsonType {
		t.Fatalf("status %d, headers %v: %v", r.status, r.header, err)
	}
	return m
}

// scraped is what a Prometheus server makes of it.
func (b *bench) scraped(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	r := b.do(t, http.MethodGet, "/metrics", "", "Accept", "text/plain;version=0.0.4")
	if media := r.header.Get("Content-Type"); r.status != 200 || !strings.HasPrefix(media, "text/plain; version=0.0.4") {
		t.Fatalf("status %d, content type %s", r.status, media)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(r.body)))
	if err != nil {
		t.Fatalf("%v in\n%s", err, r.body)
	}
	return families
}

// ends makes every run end for this reason.
func (f *fake) ends(reason snippet.Reason) {
	f.answer = func(context.Context, snippet.Job) (snippet.Result, error) {
		return snippet.Result{Outcome: reason.Outcome(), Reason: reason, DurationMS: 12.5}, nil
	}
}

func TestMetricsCountEachRunOnce(t *testing.T) {
	b := serve(t, nil)
	for i, reason := range snippet.Reasons() {
		b.runner.ends(reason)
		before := b.counted(t)
		if r := b.post(t, `{"code":"1"}`); r.status != 200 {
			t.Fatalf("status %d", r.status)
		}
		after := b.counted(t)
		if after.Executions != before.Executions+1 || after.Executions != int64(i+1) ||
			after.Outcomes[reason.Outcome()] != before.Outcomes[reason.Outcome()]+1 || after.Reasons[reason] != 1 {
			t.Errorf("%s: %d runs, %v, %v", reason, after.Executions, after.Outcomes, after.Reasons)
		}
		found := slices.ContainsFunc(after.Recent, func(e metrics.Event) bool { return e.Reason == reason })
		if !found || len(after.Recent) != i+1 {
			t.Errorf("%s: among the last %d runs is none", reason, len(after.Recent))
		}
	}
}

func TestMetricsCountInvalidApart(t *testing.T) {
	b := serve(t, nil)
	requests := 0
	for body := range badFields {
		if len(body) < 10_000 {
			requests++
			b.post(t, body)
		}
	}
	b.post(t, "{")
	b.do(t, http.MethodGet, "/nothing", "")
	b.do(t, http.MethodDelete, "/execute", "")
	b.post(t, `{"code":"1"}`, "Host", "evil.example")
	b.do(t, http.MethodGet, "/events?limit=x", "")
	got := b.counted(t)
	if want := int64(requests + 5); got.Load.Invalid != want || got.Executions != 0 || len(b.runner.ran()) != 0 {
		t.Errorf("%d invalid, %d runs; want %d and none", got.Load.Invalid, got.Executions, want)
	}
	if v := b.scraped(t)["cloche_requests_invalid_total"].GetMetric()[0].GetCounter().GetValue(); v != float64(requests+5) {
		t.Errorf("the scrape says %v", v)
	}
}

func TestMetricsShowLoad(t *testing.T) {
	b := serve(t, func(s *service.Config, _ *Config) { s.Concurrency, s.Queue = 1, 1 })
	release := make(chan struct{})
	b.runner.answer = func(context.Context, snippet.Job) (snippet.Result, error) {
		<-release
		return snippet.Result{Outcome: snippet.OK, Reason: snippet.Completed}, nil
	}
	b.leaver(t)
	eventually(t, "one runs", func() bool { return b.counted(t).Load.InFlight == 1 })
	b.leaver(t)
	eventually(t, "one waits", func() bool { return b.counted(t).Load.Waiting == 1 })
	if r := b.post(t, `{"code":"1"}`); r.status != 429 {
		t.Errorf("status %d", r.status)
	}
	close(release)
	eventually(t, "all have left", func() bool { l := b.counted(t).Load; return l.InFlight == 0 && l.Waiting == 0 })
	if l := b.counted(t).Load; l.Refused != 1 || l.Invalid != 0 || l.QueueWaitMS <= 0 {
		t.Errorf("load %+v", l)
	}
}

// Where other processes run snippets too, what this one knows of load and of
// recording is not shown.
func TestMetricsShowNoUnknownLoad(t *testing.T) {
	b := serve(t, func(_ *service.Config, c *Config) { c.RunsElsewhere = true })
	for _, body := range []string{`{"code":"1"}`, `{}`} {
		b.post(t, body)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b.do(t, http.MethodGet, "/metrics", "").body, &m); err != nil || string(m["load"]) != "null" || string(m["executions"]) != "1" {
		t.Errorf("load %s after %s runs, error %v", m["load"], m["executions"], err)
	}
	if health := string(b.do(t, http.MethodGet, "/health", "").body); !strings.Contains(health, `"recording":"unknown"`) {
		t.Errorf("health %s", health)
	}
	scrape := b.scraped(t)
	if runs := scrape["cloche_demo_executions_total"]; runs == nil {
		t.Error("the scrape lacks what is known")
	}
	for _, name := range []string{"cloche_executions_in_flight", "cloche_executions_refused_total", "cloche_requests_invalid_total"} {
		if scrape[name] != nil {
			t.Errorf("the scrape has %v", scrape[name])
		}
	}
}

// Whatever callers and snippets choose, they make no series of their own.
func TestSeriesAreConstant(t *testing.T) {
	b := serve(t, nil)
	size := func() (n int) {
		for _, f := range b.scraped(t) {
			n += len(f.GetMetric())
		}
		return n
	}
	before := size()
	for i := range 200 {
		evil := fmt.Sprintf("x%d\"} 1\n# TYPE evil counter\nevil{a=\"%d", i, i)
		b.runner.answer = func(context.Context, snippet.Job) (snippet.Result, error) {
			reason := snippet.Reasons()[i%len(snippet.Reasons())]
			return snippet.Result{
				Outcome: reason.Outcome(), Reason: reason, Stdout: evil, DurationMS: float64(i * i),
				Blocked: []snippet.Refusal{{Rule: snippet.ImportDenied, Target: evil}}, BlockedCount: i,
			}, nil
		}
		body, _ := json.Marshal(map[string]any{"code": evil, "files": []any{map[string]string{"path": fmt.Sprintf("p\"}%d", i), "content": ""}}})
		if r := b.post(t, string(body), "X-Request-Id", fmt.Sprintf("r:%d", i), "User-Agent", "evil\"}"); r.status != 200 {
			t.Fatalf("status %d: %s", r.status, r.body)
		}
		b.do(t, http.MethodGet, fmt.Sprintf("/evil%%22%%7D%d", i), "")
	}
	if after := size(); after != before {
		t.Errorf("%d series, %d before", after, before)
	}
}

type unreadableRecords struct{}

func (unreadableRecords) Snapshot(context.Context, string) (metrics.Snapshot, error) {
	return metrics.Snapshot{}, errors.New("disk is gone")
}

func (unreadableRecords) Events(context.Context, metrics.Filter) (metrics.Page, error) {
	return metrics.Page{}, errors.New("disk is gone")
}

func TestUnreadableRecords(t *testing.T) {
	for _, path := range []string{"/metrics", "/events"} {
		b := serve(t, func(_ *service.Config, c *Config) { c.Reader = unreadableRecords{} })
		r := b.do(t, http.MethodGet, path, "")
		if r.status != 503 || r.header.Get("Retry-After") == "" || strings.Contains(string(r.body), "disk") {
			t.Errorf("%s: status %d: %s", path, r.status, r.body)
		}
		if r.problem(t); !strings.Contains(b.log.String(), "disk is gone") {
			t.Errorf("%s: the log does not tell why: %s", path, b.log)
		}
		if r := b.post(t, `{"code":"1"}`); r.status != 200 {
			t.Errorf("a run beside it: status %d", r.status)
		}
	}
}
