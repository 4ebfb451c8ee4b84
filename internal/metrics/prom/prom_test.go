package prom_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/metrics/prom"
	"cloche/internal/snippet"
)

func scrape(t *testing.T, s metrics.Snapshot, l metrics.Load) (string, map[string]*dto.MetricFamily) {
	t.Helper()
	var text bytes.Buffer
	if err := prom.Write(&text, s, l); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text.String()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	return text.String(), families
}

// filled is a store with n events, chosen by a hostile caller as far as one can.
func filled(t *testing.T, n int) *metricstest.Memory {
	t.Helper()
	store := &metricstest.Memory{}
	for i := range n {
		e := metricstest.Event(i)
		e.Reason = snippet.Reasons()[i%len(snippet.Reasons())]
		e.Outcome = e.Reason.Outcome()
		e.Tenant = fmt.Sprintf("tenant-%d", i)
		e.RequestID = fmt.Sprintf("} %d\n# TYPE x counter\nx{a=\"%d\"} 1", i, i)
		e.Blocked = fmt.Sprintf("evil\"} %d\\\n%s", i, strings.Repeat("\u2028", i))
		e.DurationMS = math.Exp(rand.Float64() * 10)
		e.Demo = i%4 == 0
		if err := store.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

func snapshot(t *testing.T, store *metricstest.Memory) metrics.Snapshot {
	t.Helper()
	s, err := store.Snapshot(t.Context(), metrics.Everyone)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func series(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

func TestSeriesAreConstant(t *testing.T) {
	empty, _ := scrape(t, metrics.State{Now: time.Now()}.Snapshot(), metrics.Load{})
	full, families := scrape(t, snapshot(t, filled(t, 200)), metrics.Load{InFlight: 3, Waiting: 9, Refused: 1 << 40})
	if series(full) != series(empty) {
		t.Errorf("%d series after 200 runs, %d before", series(full), series(empty))
	}
	if strings.Contains(full, "evil") || strings.Contains(full, "tenant-") {
		t.Error("the exposition holds what a caller chose")
	}
	for name := range families {
		if !strings.HasPrefix(name, "cloche_") {
			t.Errorf("family %s", name)
		}
	}
}

func TestValues(t *testing.T) {
	s := snapshot(t, filled(t, 130))
	_, families := scrape(t, s, metrics.Load{InFlight: 2, Waiting: 1, Refused: 7, Invalid: 4, QueueWait: 1500 * time.Millisecond})
	runs := families["cloche_executions_total"].GetMetric()
	if len(runs) != len(snippet.Reasons()) {
		t.Errorf("%d series of runs, want one for each reason", len(runs))
	}
	var all float64
	for _, m := range runs {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		reason := snippet.Reason(labels["reason"])
		if string(reason.Outcome()) != labels["outcome"] || m.GetCounter().GetValue() != float64(s.Reasons[reason]) {
			t.Errorf("%v counts %v", labels, m.GetCounter().GetValue())
		}
		all += m.GetCounter().GetValue()
	}
	if all != float64(s.Executions) {
		t.Errorf("the reasons add up to %v of %d runs", all, s.Executions)
	}
	for name, want := range map[string]float64{
		"cloche_demo_executions_total":    float64(s.Demo),
		"cloche_executions_in_flight":     2,
		"cloche_executions_waiting":       1,
		"cloche_executions_refused_total": 7,
		"cloche_requests_invalid_total":   4,
		"cloche_queue_wait_seconds_total": 1.5,
	} {
		m := families[name].GetMetric()[0]
		if got := m.GetCounter().GetValue() + m.GetGauge().GetValue(); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// A series of zeros would say that nobody waits.
func TestUnknownLoadHasNoSeries(t *testing.T) {
	s := snapshot(t, filled(t, 20))
	_, known := scrape(t, s, metrics.Load{})
	_, families := scrape(t, s, metrics.Load{Unknown: true})
	for _, name := range []string{
		"cloche_executions_in_flight", "cloche_executions_waiting", "cloche_executions_refused_total",
		"cloche_requests_invalid_total", "cloche_queue_wait_seconds_total",
	} {
		if known[name] == nil || families[name] != nil {
			t.Errorf("%s: where the load is known %v, where it is not %v", name, known[name], families[name])
		}
		delete(known, name)
	}
	if len(families) != len(known) {
		t.Errorf("%d other families, want %d", len(families), len(known))
	}
}

func TestHistogramIsInSeconds(t *testing.T) {
	s := snapshot(t, filled(t, 130))
	_, families := scrape(t, s, metrics.Load{})
	h := families["cloche_execution_duration_seconds"].GetMetric()[0].GetHistogram()
	if h.GetSampleCount() != 130 || math.Abs(h.GetSampleSum()-s.Duration.SumMS/1000) > 1e-9 {
		t.Errorf("count %d, sum %v", h.GetSampleCount(), h.GetSampleSum())
	}
	bounds := append(metrics.Bounds(), math.Inf(1))
	if len(h.GetBucket()) != len(bounds) {
		t.Fatalf("%d buckets, want %d", len(h.GetBucket()), len(bounds))
	}
	for i, b := range h.GetBucket() {
		if b.GetUpperBound() != bounds[i]/1000 || b.GetCumulativeCount() != uint64(s.Duration.Buckets[i].Count) {
			t.Errorf("bucket %v s counts %d, want %v and %d", b.GetUpperBound(), b.GetCumulativeCount(), bounds[i]/1000, s.Duration.Buckets[i].Count)
		}
	}
}

func TestLint(t *testing.T) {
	text, _ := scrape(t, snapshot(t, filled(t, 20)), metrics.Load{})
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, error %v in\n%s", problems, err, text)
	}
}
