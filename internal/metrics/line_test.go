package metrics_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
)

func TestLineRoundTrip(t *testing.T) {
	e := sample(4)
	line, err := metrics.EncodeLine(e)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(line, '\n') {
		t.Errorf("line feed in %s", line)
	}
	got, err := metrics.DecodeLine(line)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLogLineCanBeReplayed: as log/slog writes it, with what a snippet can put
// into it.
func TestLogLineCanBeReplayed(t *testing.T) {
	e := sample(5)
	e.Blocked = "a\nb\x1b[0m" + strings.Repeat("x", 400)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Error("event not recorded", "id", e.ID, metrics.LineKey, e)
	got, err := metrics.DecodeLine(bytes.TrimSpace(log.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := metrics.Admit(e, time.Now().AddDate(10, 0, 0))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOtherLinesAreSkippedOrRefused(t *testing.T) {
	good, err := metrics.EncodeLine(sample(0))
	if err != nil {
		t.Fatal(err)
	}
	swap := func(old, replacement string) string {
		changed := strings.Replace(string(good), old, replacement, 1)
		if changed == string(good) {
			t.Fatalf("%q is not in the line", old)
		}
		return changed
	}
	for line, want := range map[string]error{
		``:                              metrics.ErrNoEvent,
		`starting`:                      metrics.ErrNoEvent,
		`[1]`:                           metrics.ErrNoEvent,
		`null`:                          metrics.ErrNoEvent,
		`{"msg":"ready"}`:               metrics.ErrNoEvent,
		string(good) + `{}`:             metrics.ErrNoEvent,
		strings.Repeat("x", 20_000):     metrics.ErrNoEvent,
		`{"cloche_event":null}`:         metrics.ErrInvalid,
		`{"cloche_event":[]}`:           metrics.ErrInvalid,
		swap(`"OK"`, `"WON"`):           metrics.ErrInvalid,
		swap(`"completed"`, `"signal"`): metrics.ErrInvalid,
		swap(`"duration_ms":0`, `"duration_ms":-1`):    metrics.ErrInvalid,
		swap(`"duration_ms":0`, `"duration_ms":1e308`): metrics.ErrInvalid,
		swap(`"duration_ms":0`, `"duration_ms":1e999`): metrics.ErrInvalid,
		swap(`"code_bytes":42`, `"code_bytes":1e3`):    metrics.ErrInvalid,
		swap(`"tenant":"default"`, `"tenant":""`):      metrics.ErrInvalid,
		swap(`"2026-`, `"9999-`):                       metrics.ErrInvalid,
	} {
		if _, err := metrics.DecodeLine([]byte(line)); !errors.Is(err, want) {
			t.Errorf("%.200s: error %v, want %v", line, err, want)
		}
	}
}

// FuzzDecodeLine: whatever the line, an event that comes out is one that every
// store takes as it is.
func FuzzDecodeLine(f *testing.F) {
	for i := range 5 {
		line, _ := metrics.EncodeLine(metricstest.Event(i))
		f.Add(line)
	}
	f.Add([]byte(`{"cloche_event":{"id":"a","blocked":"\ud800\u0000"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := metrics.DecodeLine(line)
		if err != nil {
			return
		}
		kept, err := metrics.Admit(e, e.Time)
		if err != nil || kept != e {
			t.Errorf("%+v is kept as %+v, error %v", e, kept, err)
		}
	})
}
