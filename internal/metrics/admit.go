package metrics

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of an Event. They are far above what a run can reach; their task is
// that no line from a log, however made, can overflow a sum.
const (
	MaxText  = 200            // characters of RequestID and of Blocked
	MaxMS    = 3_600_000      // of each time, in milliseconds: one hour
	MaxCount = int64(1) << 50 // of each byte count or number of things
	MaxSkew  = time.Minute    // that an event may be ahead of the store's clock
)

var (
	// ErrInvalid means that an event is not one that Cloche makes. Nothing was
	// counted, and the same event will be refused again.
	ErrInvalid = errors.New("invalid event")
	// ErrExpired means that an event is as old as those that the store has
	// forgotten. It may have been counted before, so it is not counted now.
	ErrExpired = errors.New("event is older than the store remembers")
)

var (
	idForm     = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)
	tenantForm = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	hashForm   = regexp.MustCompile(`^([0-9a-f]{64})?$`)
	epoch      = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Admit is the gate of every store: it returns the event as it is to be kept,
// or an error that wraps ErrInvalid. Free text is made fit and not refused,
// because a snippet chooses it and must not be able to choose not to be
// counted. An event may be at most MaxSkew ahead of now.
func Admit(e Event, now time.Time) (Event, error) {
	e = e.normal()
	if err := e.Validate(); err != nil {
		return Event{}, err
	}
	if e.Time.After(now.Add(MaxSkew)) {
		return Event{}, fmt.Errorf("%w: time %s is in the future", ErrInvalid, e.Time.Format(time.RFC3339))
	}
	return e, nil
}

// Validate checks closed sets, forms and bounds. Its errors wrap ErrInvalid,
// name the field and say what it must be, never what it is.
func (e Event) Validate() error {
	for _, c := range e.checks() {
		if !c.holds {
			return fmt.Errorf("%w: %s must be %s", ErrInvalid, c.field, c.must)
		}
	}
	return nil
}

type check struct {
	field string
	holds bool
	must  string // be
}

// What times, counts and texts must be.
var (
	mustTime  = fmt.Sprintf("from 0 to %d milliseconds", MaxMS)
	mustCount = fmt.Sprintf("from 0 to %d", MaxCount)
	mustText  = fmt.Sprintf("at most %d printable characters", MaxText)
)

func (e Event) checks() []check {
	return []check{
		{"id", idForm.MatchString(e.ID), "1 to 64 letters, digits, hyphens or underscores"},
		{"time", e.Time.After(epoch) && e.Time.Year() < 2200, "after 2019 and before 2200, as in RFC 3339"},
		{"tenant", tenantForm.MatchString(e.Tenant), "1 to 64 small letters, digits or hyphens"},
		{"request_id", e.RequestID == tidy(e.RequestID), mustText},
		{"outcome", e.Outcome != "" && e.Outcome == e.Reason.Outcome(), "that of the reason, which must be one of ours"},
		{"duration_ms", timeFits(e.DurationMS), mustTime},
		{"cpu_ms", timeFits(e.CPUMS), mustTime},
		{"peak_memory", countFits(e.PeakMemory), mustCount},
		{"queue_ms", timeFits(e.QueueMS), mustTime},
		{"code_sha256", hashForm.MatchString(e.CodeSHA256), "64 small hexadecimal digits, or empty"},
		{"code_bytes", countFits(int64(e.CodeBytes)), mustCount},
		{"stdout_bytes", countFits(e.StdoutBytes), mustCount},
		{"stderr_bytes", countFits(e.StderrBytes), mustCount},
		{"files_in", countFits(int64(e.FilesIn)), mustCount},
		{"files_out", countFits(int64(e.FilesOut)), mustCount},
		{"blocked_count", countFits(int64(e.BlockedCount)), mustCount},
		{"blocked", e.Blocked == tidy(e.Blocked), mustText},
	}
}

func timeFits(ms float64) bool { return ms >= 0 && ms <= MaxMS && !math.IsNaN(ms) }
func countFits(n int64) bool   { return n >= 0 && n <= MaxCount }

// normal is the event as every store keeps it, so that they give back the same.
func (e Event) normal() Event {
	e.Time = e.Time.UTC().Truncate(time.Millisecond)
	e.RequestID = tidy(e.RequestID)
	e.Blocked = tidy(e.Blocked)
	return e
}

// tidy makes text safe to show in a terminal, a log or a page: no control or
// invisible characters, valid UTF-8, at most MaxText characters.
func tidy(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, s)
	n := 0
	for i := range s {
		if n == MaxText {
			return s[:i]
		}
		n++
	}
	return s
}
