package emf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

type recorderFunc func(context.Context, metrics.Event) error

func (f recorderFunc) Record(ctx context.Context, e metrics.Event) error { return f(ctx, e) }

func TestRecorder(t *testing.T) {
	var out bytes.Buffer
	fault := errors.New("no table")
	kept := 0
	r := New(recorderFunc(func(context.Context, metrics.Event) error { kept++; return fault }), &out, "Cloche/test")
	e := metrics.Event{
		Time: time.UnixMilli(1893499200123), Tenant: "acme", Outcome: snippet.Blocked, Reason: snippet.ImportDenied, DurationMS: 2.5,
	}
	for range 2 {
		if err := r.Record(t.Context(), e); !errors.Is(err, fault) {
			t.Errorf("error %v", err)
		}
	}
	if kept != 2 || strings.Contains(out.String(), "acme") {
		t.Errorf("handed on %d times; lines %s", kept, out.String())
	}
	want := `{"Outcome":"BLOCKED","Reason":"import_denied","Runs":1,"Duration":2.5,"ColdStarts":1,"_aws":{"Timestamp":1893499200123,
		"CloudWatchMetrics":[{"Namespace":"Cloche/test","Dimensions":[[],["Outcome"],["Outcome","Reason"]],
		"Metrics":[{"Name":"Runs","Unit":"Count"},{"Name":"Duration","Unit":"Milliseconds"}]},
		{"Namespace":"Cloche/test","Dimensions":[[]],"Metrics":[{"Name":"ColdStarts","Unit":"Count"}]}]}}`
	for line := range strings.Lines(out.String()) {
		if d := cmp.Diff(decode(t, want), decode(t, line)); d != "" {
			t.Errorf("line (-want +got):\n%s", d)
		}
		want = strings.Replace(want, `"ColdStarts":1`, `"ColdStarts":0`, 1)
	}
}

func decode(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}
