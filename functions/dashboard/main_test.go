package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"cloche/functions"
	"cloche/internal/gateway"
	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/snippet"
	"cloche/web"
)

// reports has one of a minute ago.
type reports struct{}

func (reports) SaveReport(context.Context, snippet.Runtime, time.Time) error {
	return errors.New("read only")
}

func (reports) LastReport(context.Context) (snippet.Runtime, time.Time, error) {
	return snippet.Runtime{Python: "3.13.5", Layers: []snippet.Layer{{Name: "seccomp"}}}, time.Now().Add(-time.Minute), nil
}

func invoke(t *testing.T, store metrics.Store, payload []byte) (r struct {
	StatusCode        int
	MultiValueHeaders http.Header
	Body              string
},
) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	handler, err := build(functions.Parts{Log: log, Store: store, Reports: reports{}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := gateway.New(handler, log).Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSampleEvents(t *testing.T) {
	store := &metricstest.Memory{}
	if err := store.Record(t.Context(), metrics.Event{
		ID: "one", Time: time.Now(), Tenant: "default", Outcome: snippet.Error, Reason: snippet.Exception,
	}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"dashboard-metrics.json": `"executions":1`,
		"dashboard-events.json":  `"id":"one"`,
		"dashboard-health.json":  `"python":"3.13.5"`,
		"dashboard-page.json":    `<script type="module" src="dashboard/dashboard.js">`,
	} {
		payload, err := os.ReadFile("../../events/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if r := invoke(t, store, payload); r.StatusCode != 200 || !strings.Contains(r.Body, want) {
			t.Errorf("%s: status %d: %s", name, r.StatusCode, r.Body)
		}
	}
}

// This function sees nothing of the runs that others have in progress, and no
// request that they refuse: zeros would be a false answer.
func TestLoadIsNotKnown(t *testing.T) {
	store := &metricstest.Memory{}
	for accept, want := range map[string]struct{ has, lacks string }{
		"application/json": {`"load":null`, `in_flight`},
		"text/plain":       {"\ncloche_demo_executions_total 0\n", "cloche_executions_in_flight"},
	} {
		r := invoke(t, store, []byte(`{"path": "/metrics", "httpMethod": "GET", "headers": {"Accept": "`+accept+`"}}`))
		if r.StatusCode != http.StatusOK || !strings.Contains(r.Body, want.has) || strings.Contains(r.Body, want.lacks) {
			t.Errorf("%s: status %d: %s", accept, r.StatusCode, r.Body)
		}
	}
}

// Whoever reaches this function must not get anything to run.
func TestRunsNothing(t *testing.T) {
	for _, path := range []string{"/execute", "/demo"} {
		r := invoke(t, &metricstest.Memory{}, []byte(`{"path": "`+path+`", "httpMethod": "POST",
			"headers": {"Content-Type": "application/json"}, "body": "{\"code\": \"1\"}"}`))
		if r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: status %d: %s", path, r.StatusCode, r.Body)
		}
	}
}

// What the page loads comes through API Gateway as it is.
func TestPageLoadsItsFiles(t *testing.T) {
	for _, name := range []string{"dashboard.js", "dashboard.css", "icon.svg"} {
		r := invoke(t, &metricstest.Memory{}, []byte(`{"path": "/dashboard/`+name+`", "httpMethod": "GET"}`))
		want, err := fs.ReadFile(web.Files(), name)
		if err != nil || r.StatusCode != http.StatusOK || r.Body != string(want) {
			t.Errorf("%s: status %d, %d of %d bytes, %v", name, r.StatusCode, len(r.Body), len(want), err)
		}
		if policy := r.MultiValueHeaders.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self'") {
			t.Errorf("%s: policy %s", name, policy)
		}
	}
}
