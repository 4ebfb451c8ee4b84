package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// observe is the histogram of some durations in milliseconds.
func observe(ms []float64) Durations {
	c := Counters{}
	for _, d := range ms {
		c.Add(totalsOf(Event{DurationMS: d}))
	}
	return c.durations()
}

func TestBoundsAscendByAtMostHalf(t *testing.T) {
	b := Bounds()
	for i := 1; i < len(b); i++ {
		if b[i] <= b[i-1] || b[i] > 1.5*b[i-1] {
			t.Errorf("%v follows %v", b[i], b[i-1])
		}
	}
	if last := b[len(b)-1]; last < 20_000+10_000 {
		t.Errorf("the last bound, %v ms, is below the largest timeout and wait", last)
	}
}

func TestBucketBoundsAreInclusive(t *testing.T) {
	for i, b := range Bounds() {
		if got := bucketOf(b); got != i {
			t.Errorf("%v ms is in bucket %d, want %d", b, got, i)
		}
		if got := bucketOf(math.Nextafter(b, 1e9)); got != i+1 {
			t.Errorf("just above %v ms is in bucket %d, want %d", b, got, i+1)
		}
	}
}

// TestPercentileError checks what Durations says about its error against exact
// percentiles of several kinds of load.
func TestPercentileError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() float64{
		"even":      func() float64 { return r.Float64() * 20_000 },
		"fast":      func() float64 { return r.Float64() * 3 },
		"long tail": func() float64 { return min(math.Exp(r.NormFloat64()*2+2), 29_000) },
		"deadlines": func() float64 { return 5000 + r.Float64()*10 },
		"all equal": func() float64 { return 12.5 },
		"two peaks": func() float64 { return []float64{4.2, 19_990}[r.IntN(2)] },
	} {
		ms := make([]float64, 1+r.IntN(3000))
		for i := range ms {
			ms[i] = draw()
		}
		d := observe(ms)
		slices.Sort(ms)
		for q, got := range map[float64]float64{0.5: d.P50, 0.95: d.P95, 0.99: d.P99} {
			exact := ms[int(math.Ceil(q*float64(len(ms))))-1]
			if math.Abs(got-exact) > max(1, exact/2) {
				t.Errorf("%s, %d runs: percentile %v is %v, exactly %v", name, len(ms), q, got, exact)
			}
		}
		if d.P50 > d.P95 || d.P95 > d.P99 {
			t.Errorf("%s: percentiles do not ascend: %v %v %v", name, d.P50, d.P95, d.P99)
		}
	}
}

func TestBucketsAreCumulative(t *testing.T) {
	d := observe([]float64{0, 0.4, 1, 7, 7, 4999, 5003, 20_004, 90_000})
	last := d.Buckets[len(d.Buckets)-1]
	if last.LE != "+Inf" || last.Count != 9 || d.Count != 9 {
		t.Errorf("last bucket is %+v of %d", last, d.Count)
	}
	for i := 1; i < len(d.Buckets); i++ {
		if d.Buckets[i].Count < d.Buckets[i-1].Count {
			t.Errorf("bucket %+v after %+v", d.Buckets[i], d.Buckets[i-1])
		}
	}
	if want := 0.4 + 1 + 7 + 7 + 4999 + 5003 + 20_004 + 90_000; math.Abs(d.SumMS-want) > 1e-6 {
		t.Errorf("sum is %v, want %v", d.SumMS, want)
	}
	if d.P99 != 30_000 {
		t.Errorf("a percentile in the last bucket is %v, want the last bound", d.P99)
	}
}
