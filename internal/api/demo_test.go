package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloche/internal/service"
	"cloche/internal/snippet"
)

// byTheBook makes the runner end every case of the demo set as it must.
func byTheBook(f *fake) {
	f.answer = func(_ context.Context, job snippet.Job) (snippet.Result, error) {
		for _, c := range service.DemoSet() {
			if c.Code == job.Request.Code {
				return snippet.Result{Outcome: c.Reason.Outcome(), Reason: c.Reason, DurationMS: 3}, nil
			}
		}
		return snippet.Result{Outcome: snippet.OK, Reason: snippet.Completed}, nil
	}
}

func (b *bench) demo(t *testing.T) (report service.DemoReport) {
	t.Helper()
	r := b.do(t, http.MethodPost, "/demo", "", "X-Request-Id", "demo-1")
	if err := json.Unmarshal(r.body, &report); r.status != 200 || err != nil {
		t.Fatalf("status %d, %v: %.300s", r.status, err, r.body)
	}
	return report
}

func TestDemoMovesEveryCounterByKnownNumbers(t *testing.T) {
	b := serve(t, nil)
	byTheBook(b.runner)
	b.post(t, `{"code":"something else"}`)
	for turn := int64(1); turn <= 2; turn++ {
		if report := b.demo(t); !report.AsExpected || len(report.Cases) != 16 {
			t.Errorf("%d cases, as expected %v", len(report.Cases), report.AsExpected)
		}
		got := b.counted(t)
		if got.Executions != 16*turn+1 || got.Demo != 16*turn {
			t.Errorf("%d runs, %d of the demo", got.Executions, got.Demo)
		}
		for outcome, n := range map[snippet.Outcome]int64{snippet.OK: 5*turn + 1, snippet.Blocked: 6 * turn, snippet.Timeout: turn, snippet.Error: 4 * turn} {
			if got.Outcomes[outcome] != n {
				t.Errorf("%d are %s, want %d", got.Outcomes[outcome], outcome, n)
			}
		}
	}
	marked := 0
	for _, e := range b.events(t, "limit=1000").Events {
		if e.Demo != (e.RequestID == "demo-1") {
			t.Errorf("event %+v", e)
		}
		if e.Demo {
			marked++
		}
	}
	if marked != 32 {
		t.Errorf("%d events are marked", marked)
	}
}

func TestDemoRefused(t *testing.T) {
	b := serve(t, func(s *service.Config, _ *Config) { s.Concurrency, s.Queue = 1, -1 })
	b.runner.answer = slow(time.Minute)
	leave := b.leaver(t)
	eventually(t, "one runs", func() bool { return b.service.Load().InFlight == 1 })
	if r := b.do(t, http.MethodPost, "/demo", ""); r.status != 429 || r.header.Get("Retry-After") == "" {
		t.Errorf("no slot: status %d", r.status)
	}
	leave()
	eventually(t, "the slot is free", func() bool { return b.service.Load().InFlight == 0 })
	b.runner.answer = func(context.Context, snippet.Job) (snippet.Result, error) {
		return snippet.Result{}, snippet.ErrUnavailable
	}
	if r := b.do(t, http.MethodPost, "/demo", ""); r.status != 503 || r.header.Get("Retry-After") == "" {
		t.Errorf("no sandbox: status %d", r.status)
	}
	if r := b.do(t, http.MethodPost, "/demo", "", "Sec-Fetch-Site", "cross-site"); r.status != 403 {
		t.Errorf("from another origin: status %d", r.status)
	}
	if n := strings.Count(b.log.String(), `"demo":true`); n != 0 {
		t.Errorf("%d demo runs in the log", n)
	}
}
