package prom

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"cloche/internal/metrics"
	"cloche/internal/snippet"
)

// The families. Names and units follow
// https://prometheus.io/docs/practices/naming/: base units, _total for counters.
var (
	executions = describe("executions_total", "Runs by outcome and reason since the store was made.", "outcome", "reason")
	demo       = describe("demo_executions_total", "Runs of the demo set since the store was made.")
	duration   = describe("execution_duration_seconds", "Wall clock time of runs, without their wait for a slot.")
	inFlight   = describe("executions_in_flight", "Runs that have a slot in this process.")
	waiting    = describe("executions_waiting", "Requests in this process's waiting room.")
	refused    = describe("executions_refused_total", "Requests that got no slot in time since this process started.")
	invalid    = describe("requests_invalid_total", "Requests refused for what they were since this process started; never counted as runs.")
	queueWait  = describe("queue_wait_seconds_total", "Time that admitted runs waited for a slot since this process started.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("cloche_"+name, help, labels, nil)
}

// collector shows one moment; it is made anew for each scrape.
type collector struct {
	snapshot metrics.Snapshot
	load     metrics.Load
}

// Describe lists the families.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{executions, demo, duration, inFlight, waiting, refused, invalid, queueWait} {
		out <- d
	}
}

// Collect sends every series, also those that are zero. What is not known has
// none: a zero would say that nobody waits.
func (c collector) Collect(out chan<- prometheus.Metric) {
	for _, r := range snippet.Reasons() {
		out <- counter(executions, float64(c.snapshot.Reasons[r]), string(r.Outcome()), string(r))
	}
	out <- counter(demo, float64(c.snapshot.Demo))
	out <- c.histogram()
	if c.load.Unknown {
		return
	}
	out <- gauge(inFlight, c.load.InFlight)
	out <- gauge(waiting, c.load.Waiting)
	out <- counter(refused, float64(c.load.Refused))
	out <- counter(invalid, float64(c.load.Invalid))
	out <- counter(queueWait, c.load.QueueWait.Seconds())
}

// histogram turns milliseconds into seconds. The last bucket is left to the
// library, which writes the count as +Inf.
func (c collector) histogram() prometheus.Metric {
	d := c.snapshot.Duration
	buckets := make(map[float64]uint64)
	for _, b := range d.Buckets {
		if ms, err := strconv.ParseFloat(b.LE, 64); err == nil && b.LE != "+Inf" {
			buckets[ms/1000] = uint64(b.Count)
		}
	}
	return prometheus.MustNewConstHistogram(duration, uint64(d.Count), d.SumMS/1000, buckets)
}

func counter(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

func gauge(d *prometheus.Desc, n int) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n))
}
