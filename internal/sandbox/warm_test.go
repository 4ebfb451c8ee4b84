package sandbox

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"cloche/internal/snippet"
)

// A child that had time to rehearse runs what programs often do in pages that are
// its own already. Each that is not costs a copy, in the time that the run is
// waited for: without a rehearsal these lines meet about 270.
func TestRehearsalMakesPagesItsOwn(t *testing.T) {
	const most = 30
	s := unguarded.get(t)
	code := `
import resource
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before = faults()
import collections, datetime, json, re
from dataclasses import dataclass

@dataclass
class Pair:
    first: str
    second: int = 3

text = json.dumps({"pair": Pair("a").second}), re.sub(r"[A-Z]\d+", "-", "x A12 y")
days = collections.Counter("banana").most_common(2), datetime.datetime(2031, 4, 5).isoformat()
print(faults() - before)
`
	least := 1 << 20
	for range 20 { // other work may keep a child from it
		time.Sleep(100 * time.Millisecond)
		r := s.run(t, job(code))
		met, err := strconv.Atoi(strings.TrimSpace(r.Stdout))
		if r.Outcome != snippet.OK || err != nil {
			t.Fatalf("%+v", r)
		}
		if least = min(least, met); least <= most {
			return
		}
	}
	t.Errorf("%d pages at least were made in the run, want at most %d", least, most)
}
