package dynamo

import (
	"context"
	"errors"
	"io"
	"net"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"cloche/internal/metrics"
	"cloche/internal/metrics/metricstest"
)

var (
	refused = broken(&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED})
	lost    = broken(io.ErrUnexpectedEOF)
	cutBody = answer(200, `{"ConsumedCap`)
)

// A record is repeated exactly when that can help, and with the same token, so
// that DynamoDB can tell a repeat from another transaction.
func TestRecordRepeats(t *testing.T) {
	none := "None"
	for name, c := range map[string]struct {
		script []step
		asked  int
	}{
		"at once":              {[]step{done}, 1},
		"throttled":            {[]step{fault(400, "ThrottlingException"), fault(400, "ProvisionedThroughputExceededException"), done}, 3},
		"request limit":        {[]step{fault(400, "RequestLimitExceeded"), done}, 2},
		"conflict":             {[]step{cancelled(none, conflict, none), cancelled(none, none, conflict), done}, 3},
		"throttled in part":    {[]step{cancelled(none, throttled, throughput), done}, 2},
		"under way":            {[]step{fault(400, "TransactionInProgressException"), done}, 2},
		"server fault":         {[]step{fault(500, "InternalServerError"), fault(503, "ServiceUnavailable"), done}, 3},
		"no error body":        {[]step{answer(502, `<html>`), done}, 2},
		"connection refused":   {[]step{refused, refused, done}, 3},
		"lost answer":          {[]step{lost, done}, 2},
		"cut answer":           {[]step{cutBody, done}, 2},
		"no answer":            {[]step{hanging, done}, 2},
		"counted before":       {[]step{cancelled(conditionFailed, none, none, none, none)}, 1},
		"counted and conflict": {[]step{cancelled(conditionFailed, conflict, none, none, none)}, 1},
		"lost, then counted":   {[]step{lost, cancelled(conditionFailed, none, none, none, none)}, 2},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := &fake{script: c.script}
			if err := storeOn(t, f, patient).Record(t.Context(), metricstest.Event(1)); err != nil {
				t.Fatal(err)
			}
			if len(f.asked) != c.asked {
				t.Errorf("asked %d times, want %d", len(f.asked), c.asked)
			}
			for _, a := range f.asked {
				if a.operation != "TransactWriteItems" || a.body["ClientRequestToken"] != f.asked[0].body["ClientRequestToken"] {
					t.Errorf("a repeat is another request: %v", a)
				}
			}
		})
	}
}

func TestRecordGivesUpAtOnce(t *testing.T) {
	for name, answers := range map[string]step{
		"invalid":   fault(400, "ValidationException"),
		"forbidden": fault(400, "AccessDeniedException"),
		"no table":  fault(400, "ResourceNotFoundException"),
		"bad token": fault(400, "UnrecognizedClientException"),
		"bad item":  cancelled("None", "ValidationError", "None"),
		"other key": cancelled("None", conditionFailed, "None"),
	} {
		inBubble(t, name, func(t *testing.T) {
			f := &fake{script: []step{answers}}
			if err := storeOn(t, f, patient).Record(t.Context(), metricstest.Event(1)); err == nil {
				t.Error("no error")
			}
			if len(f.asked) != 1 {
				t.Errorf("asked %d times", len(f.asked))
			}
		})
	}
}

// An outage costs a run its patience and no more, and the cause is told, also
// where the last try had no answer in time.
func TestRecordGivesUpInTime(t *testing.T) {
	for name, c := range map[string]struct {
		script []step
		cause  string
	}{
		"refused":               {[]step{refused}, syscall.ECONNREFUSED.Error()},
		"refused, no answer":    {[]step{refused, hanging}, syscall.ECONNREFUSED.Error()},
		"throttled":             {[]step{fault(400, "ThrottlingException")}, "ThrottlingException"},
		"throttled, no answer":  {[]step{fault(400, "ThrottlingException"), hanging}, "ThrottlingException"},
		"conflict":              {[]step{cancelled("None", conflict)}, "TransactionCanceledException"},
		"no answer":             {[]step{hanging}, context.DeadlineExceeded.Error()},
		"no answer, then fault": {[]step{hanging, fault(500, "InternalServerError")}, "InternalServerError"},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := &fake{script: c.script}
			begin := time.Now()
			err := storeOn(t, f, patient).Record(t.Context(), metricstest.Event(1))
			if took := time.Since(begin); err == nil || took > patient.Patience {
				t.Fatalf("error %v after %v", err, took)
			}
			if len(f.asked) < 2 {
				t.Errorf("asked %d times", len(f.asked))
			}
			if !strings.Contains(err.Error(), c.cause) {
				t.Errorf("the error hides its cause: %v", err)
			}
			if c.cause == syscall.ECONNREFUSED.Error() && !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("the error names its cause and is not one: %v", err)
			}
		})
	}
}

func TestRecordHeedsItsCaller(t *testing.T) {
	inBubble(t, "deadline", func(t *testing.T) {
		f := &fake{script: []step{hanging}}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := storeOn(t, f, Options{Patience: time.Minute}).Record(ctx, metricstest.Event(1))
		if !errors.Is(err, context.DeadlineExceeded) || len(f.asked) != 1 {
			t.Errorf("error %v after %d requests", err, len(f.asked))
		}
	})
}

// An event as old as those that the table forgets is counted only if it is
// known that it was not.
func TestRecordOld(t *testing.T) {
	for name, c := range map[string]struct {
		answers step
		want    error
	}{
		"still there": {answer(200, `{"Item":{"pk":{"S":"event#1"}}}`), nil},
		"gone":        {done, metrics.ErrExpired},
	} {
		inBubble(t, name, func(t *testing.T) {
			old := metricstest.Event(1)
			old.Time = old.Time.Add(-31 * 24 * time.Hour)
			f := &fake{script: []step{c.answers}}
			if err := storeOn(t, f, patient).Record(t.Context(), old); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if len(f.asked) != 1 || f.asked[0].operation != "GetItem" {
				t.Errorf("asked %v", f.asked)
			}
		})
	}
}

var plainName = regexp.MustCompile(`(^|[^#:\w])[a-z]\w*`)

// Every name in an expression is a placeholder: the list of reserved words is
// long and grows. What is left are operators, in upper case, and one function.
func TestNamesArePlaceholders(t *testing.T) {
	f := &fake{script: []step{done}}
	s := storeOn(t, f, patient)
	if err := s.Record(t.Context(), metricstest.Event(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Snapshot(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Events(t.Context(), metrics.Filter{Outcome: "ERROR"}); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, a := range f.asked {
		walk(a.body, func(key, value string) {
			if !strings.HasSuffix(key, "Expression") {
				return
			}
			seen++
			if rest := strings.ReplaceAll(value, "attribute_not_exists", ""); plainName.MatchString(rest) {
				t.Errorf("%s names an attribute: %s", key, value)
			}
		})
	}
	if seen < 5 {
		t.Errorf("saw %d expressions", seen)
	}
}

func walk(v any, visit func(key, value string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if s, ok := inner.(string); ok {
				visit(k, s)
			}
			walk(inner, visit)
		}
	case []any:
		for _, inner := range v {
			walk(inner, visit)
		}
	}
}

// Writers must not meet: the events of one scope go to all shards alike.
func TestShardsAreEven(t *testing.T) {
	s := storeOn(t, &fake{}, Options{})
	counts := make([]int, DefaultShards)
	const n = 16_000
	for i := range n {
		counts[s.shard(metricstest.Event(i).ID)]++
	}
	for shard, got := range counts {
		if got < n/DefaultShards*8/10 || got > n/DefaultShards*12/10 {
			t.Errorf("shard %d has %d of %d", shard, got, n)
		}
	}
}
