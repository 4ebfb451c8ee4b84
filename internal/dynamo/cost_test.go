package dynamo

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
	"cloche/internal/snippet"
)

// size is how DynamoDB counts an item: names and values in UTF-8, numbers at two
// digits a byte and one more, three bytes for a list or map and one for each of
// its parts (developer guide, "DynamoDB item sizes and formats").
func size(i item) int {
	n := 0
	for name, value := range i {
		n += len(name) + valueSize(value)
	}
	return n
}

func valueSize(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return 1 + (len(strings.Trim(v.Value, "-.0"))+1)/2
	case *types.AttributeValueMemberBOOL:
		return 1
	case *types.AttributeValueMemberM:
		return 3 + len(v.Value) + size(v.Value)
	}
	return math.MaxInt32
}

// writeUnits are what a transaction takes: two for each KB of each item, and one
// for each KB of the event in the two indexes.
func writeUnits(event item, sums ...item) int {
	kb := func(i item) int { return (size(i) + 1023) / 1024 }
	units := (2 + 2) * kb(event)
	for _, i := range sums {
		units += 2 * kb(i)
	}
	return units
}

// grown is the sums' item of a scope after long use: every counter is there, and
// none is small.
func grown(pk string) item {
	i := key(pk, totalSort)
	for _, reason := range snippet.Reasons() {
		for _, ms := range append(metrics.Bounds(), 40_000) {
			d := metrics.DeltaOf(metrics.Event{Outcome: reason.Outcome(), Reason: reason, DurationMS: ms, Demo: true})
			for name := range d.Totals {
				i[counterPrefix+name] = number(12_345_678)
			}
		}
	}
	return i
}

// docs/deploy.md has the costs of a million runs from these numbers.
func TestCostOfARun(t *testing.T) {
	s := &Store{options: Options{Shards: 16}}
	s.options.EventAge, s.options.MinuteAge = 30*24*time.Hour, 48*time.Hour
	e := metricstest.Event(1)
	e.Tenant, e.RequestID, e.Blocked = "default", "3f2b8a9e-5a4c-4f7e-9a59-0f3a1f6f2c11", "socket"
	event, err := s.record(e)
	if err != nil {
		t.Fatal(err)
	}
	input, err := s.transaction(e)
	if err != nil {
		t.Fatal(err)
	}
	all, own := grown("15#all"), grown("15#tenant#default")
	minute := key("15#tenant#default", minuteSort(time.Now()))
	for _, n := range []string{"executions", "outcome_OK", "outcome_BLOCKED", "outcome_TIMEOUT", "outcome_ERROR"} {
		minute[counterPrefix+n] = number(12_345)
	}
	units := writeUnits(event, all, own, minute, minute)
	if len(input.TransactItems) != 5 || units != 12 {
		t.Errorf("%d items of %d write units; event %d bytes, sums %d and %d, minute %d",
			len(input.TransactItems), units, size(event), size(all), size(own), size(minute))
	}
	t.Logf("event %d bytes, sums %d and %d, minute %d", size(event), size(all), size(own), size(minute))
}
