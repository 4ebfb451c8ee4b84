package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/snippet"
)

func (b *bench) events(t *testing.T, query string) (page metrics.Page) {
	t.Helper()
	r := b.do(t, http.MethodGet, "/events?"+query, "")
	if err := json.Unmarshal(r.body, &page); r.status != 200 || err != nil || page.Events == nil {
		t.Fatalf("%s: status %d, %v: %.300s", query, r.status, err, r.body)
	}
	return page
}

// filled is a bench whose records hold n runs, a second apart, with all reasons
// in turn; the last one is the newest.
func filled(t *testing.T, n int) (b *bench, times []time.Time) {
	t.Helper()
	b = serve(t, nil)
	for i := range n {
		e := metricstest.Event(i)
		e.Reason = snippet.Reasons()[i%len(snippet.Reasons())]
		e.Outcome = e.Reason.Outcome()
		e.Time = time.Now().Add(time.Duration(i-n) * time.Second).UTC().Truncate(time.Millisecond)
		times = append(times, e.Time)
		if err := b.store.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return b, times
}

func TestEventsInPages(t *testing.T) {
	b, times := filled(t, 120)
	var seen []metrics.Event
	for query := "limit=50"; ; {
		page := b.events(t, query)
		seen = append(seen, page.Events...)
		if page.Next == "" {
			break
		}
		query = "limit=50&cursor=" + url.QueryEscape(page.Next)
	}
	if len(seen) != len(times) {
		t.Fatalf("%d of %d events", len(seen), len(times))
	}
	for i, e := range seen {
		if want := times[len(times)-1-i]; !e.Time.Equal(want) {
			t.Errorf("event %d is of %v, want %v", i, e.Time, want)
		}
	}
}

func TestEventsAreChosen(t *testing.T) {
	b, times := filled(t, 120)
	for _, o := range snippet.Outcomes() {
		page := b.events(t, "limit=1000&outcome="+string(o))
		if len(page.Events) == 0 {
			t.Errorf("no %s", o)
		}
		for _, e := range page.Events {
			if e.Outcome != o {
				t.Errorf("asked for %s, got %s", o, e.Outcome)
			}
		}
	}
	since := times[100].In(time.FixedZone("", -5*3600)).Format(time.RFC3339Nano)
	if page := b.events(t, "since="+url.QueryEscape(since)); len(page.Events) != 20 {
		t.Errorf("%d events since the 20th newest", len(page.Events))
	}
	if page := b.events(t, ""); len(page.Events) != metrics.DefaultLimit || page.Next == "" {
		t.Errorf("%d events without a limit, next %q", len(page.Events), page.Next)
	}
}

func TestEventsRefuse(t *testing.T) {
	b, _ := filled(t, 3)
	for query, want := range map[string]string{
		"outcome=ok":               "outcome",
		"outcome=":                 "outcome",
		"outcome=OK&outcome=ERROR": "outcome",
		"since=yesterday":          "since",
		"since=2030-01-31":         "since",
		"since=10m":                "since",
		"limit=0":                  "limit",
		"limit=-1":                 "limit",
		"limit=1001":               "limit",
		"limit=99999999999999999":  "limit",
		"limit=ten":                "limit",
		"limit=":                   "limit",
		"cursor=":                  "cursor",
		"cursor=x":                 "cursor",
		"cursor=1.'--":             "cursor",
		"scope=other":              "scope",
		"limit=x&since=y&outcom=OK&cursor=" + strings.Repeat("9", 100): "cursor limit outcom since",
		"%zz":  "query",
		"a;b":  "query",
		"%FF=": "\ufffd",
	} {
		r := b.do(t, http.MethodGet, "/events?"+query, "")
		if fields := strings.Join(r.fields(t), " "); r.status != 422 || fields != want {
			t.Errorf("%s: status %d names %q, want %q", query, r.status, fields, want)
		}
		if strings.Contains(string(r.body), "yesterday") || strings.Contains(string(r.body), "--") {
			t.Errorf("%s: the value is repeated: %s", query, r.body)
		}
	}
	many := ""
	for i := range 1000 {
		many += fmt.Sprintf("x%d=1&", i)
	}
	if r := b.do(t, http.MethodGet, "/events?"+many, ""); r.status != 422 || len(r.problem(t).Errors) != maxUnknown {
		t.Errorf("many parameters: status %d, %d faults", r.status, len(r.problem(t).Errors))
	}
}
