package sandbox

import (
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkAgainstBare reports the ratio of medians, interleaved.
func BenchmarkAgainstBare(b *testing.B) {
	s := newSandbox(b, Config{})
	time.Sleep(300 * time.Millisecond)
	for name, code := range map[string]string{"print": "print(1)", "stdlib": "import json,re,collections,datetime\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n  x:int=1\nprint(json.dumps(P().x), re.sub('a','b','aa'), collections.Counter('abc'), datetime.datetime.now())"} {
		b.Run(name, func(b *testing.B) {
			var ours, bare []time.Duration
			for b.Loop() {
				t := time.Now()
				if err := exec.Command(s.python.Executable, "-I", "-c", code).Run(); err != nil {
					b.Fatal(err)
				}
				bare = append(bare, time.Since(t))
				t = time.Now()
				s.run(b, job(code))
				ours = append(ours, time.Since(t))
			}
			slices.Sort(ours)
			slices.Sort(bare)
			b.ReportMetric(float64(ours[len(ours)/2])/float64(bare[len(bare)/2]), "ratio")
			b.ReportMetric(float64(ours[len(ours)/2])/1e3, "us-median")
			b.ReportMetric(float64(bare[len(bare)/2])/1e3, "us-bare")
		})
	}
}
