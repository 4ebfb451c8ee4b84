package metrics

import (
	"math"
	"sort"
	"strconv"
)

// bounds are the upper bounds of the duration histogram in milliseconds. They
// reach past the largest timeout (20 s) and the longest wait for a slot (10 s).
// Neighbours differ by at most half, which bounds the error of a percentile.
// There is one just above the default and the largest timeout, because the
// runs that end at their deadline gather there.
var bounds = []float64{
	1, 1.5, 2, 3, 4, 5, 7.5,
	10, 15, 20, 30, 40, 50, 75,
	100, 150, 200, 300, 400, 500, 750,
	1000, 1500, 2000, 3000, 4000, 5000, 5250, 7500,
	10_000, 15_000, 20_000, 20_500, 25_000, 30_000,
}

// Bounds are the upper bounds of the duration histogram in milliseconds,
// ascending, without the last bucket's infinity.
func Bounds() []float64 { return append([]float64(nil), bounds...) }

// Bucket is one bucket of a histogram, cumulative as in Prometheus.
type Bucket struct {
	LE    string `json:"le_ms" doc:"Inclusive upper bound in milliseconds; +Inf for the last bucket."`
	Count int64  `json:"count" minimum:"0" doc:"Runs that took at most this long."`
}

// Durations sums up how long runs took, without their wait for a slot.
//
// The percentiles are read from the histogram: the true value lies in the same
// bucket, so a percentile above 1 ms is off by less than half of itself, below
// that by less than 1 ms. One that falls in the last bucket is given as 30 s.
type Durations struct {
	Count   int64    `json:"count" minimum:"0" doc:"Runs measured."`
	SumMS   float64  `json:"sum_ms" minimum:"0" doc:"All durations together in milliseconds."`
	MeanMS  float64  `json:"mean_ms" minimum:"0" doc:"Mean in milliseconds; 0 without runs."`
	P50     float64  `json:"p50_ms" minimum:"0" doc:"Median in milliseconds, interpolated within its bucket."`
	P95     float64  `json:"p95_ms" minimum:"0" doc:"95th percentile in milliseconds, interpolated within its bucket."`
	P99     float64  `json:"p99_ms" minimum:"0" doc:"99th percentile in milliseconds, interpolated within its bucket."`
	Buckets []Bucket `json:"buckets" doc:"Cumulative counts, ascending; the last one equals count."`
}

// bucketOf is the index of the bucket that a duration belongs to; len(bounds)
// is the one without a bound.
func bucketOf(ms float64) int { return sort.SearchFloat64s(bounds, ms) }

// durations computes from the counts of the single buckets, len(bounds)+1 of
// them, and the sum in microseconds.
func durations(counts []int64, sumUS int64) Durations {
	d := Durations{SumMS: float64(sumUS) / 1000, Buckets: make([]Bucket, 0, len(counts))}
	for i, n := range counts {
		d.Count += n
		d.Buckets = append(d.Buckets, Bucket{LE: boundText(i), Count: d.Count})
	}
	if d.Count > 0 {
		d.MeanMS = d.SumMS / float64(d.Count)
	}
	d.P50, d.P95, d.P99 = d.quantile(0.50), d.quantile(0.95), d.quantile(0.99)
	return d
}

// quantile interpolates within the bucket that holds the q-th run.
func (d Durations) quantile(q float64) float64 {
	if d.Count == 0 {
		return 0
	}
	rank := max(1, int64(math.Ceil(q*float64(d.Count))))
	i := sort.Search(len(bounds), func(i int) bool { return d.Buckets[i].Count >= rank })
	if i == len(bounds) {
		return bounds[len(bounds)-1]
	}
	var low float64
	var below int64
	if i > 0 {
		low, below = bounds[i-1], d.Buckets[i-1].Count
	}
	part := float64(rank-below) / float64(d.Buckets[i].Count-below)
	return low + part*(bounds[i]-low)
}

func boundText(i int) string {
	if i == len(bounds) {
		return "+Inf"
	}
	return strconv.FormatFloat(bounds[i], 'f', -1, 64)
}
