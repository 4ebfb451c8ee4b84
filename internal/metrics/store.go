package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloche/internal/snippet"
)

// Recorder counts runs.
type Recorder interface {
	// Record counts an event once: a repeat, by its ID, changes nothing and is
	// no error. When it returns nil the event survives the end of this process.
	// After any other error than ErrInvalid or ErrExpired the event may or may
	// not have been counted, and repeating it is safe.
	Record(ctx context.Context, e Event) error
}

// Reader tells what was counted.
type Reader interface {
	// Snapshot sums up a scope: a tenant's name, or Everyone. A scope in which
	// nothing happened has zeros. Sums, series and recent events agree with
	// each other as well as the store can read them together.
	Snapshot(ctx context.Context, scope string) (Snapshot, error)
	// Events lists the events that the store still remembers, newest first;
	// at equal times the greater ID comes first.
	Events(ctx context.Context, f Filter) (Page, error)
}

// Store is both; metricstest.Run is its specification.
type Store interface {
	Recorder
	Reader
}

// Limits of Filter.Limit.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// ErrFilter means that a Filter asks for what cannot be; a caller's mistake.
var ErrFilter = errors.New("invalid filter")

// Filter chooses events. Its zero value is the newest DefaultLimit of all.
type Filter struct {
	Scope   string          // a tenant, or Everyone
	Outcome snippet.Outcome // empty: any
	Since   time.Time       // inclusive; zero: as far back as the store remembers
	Limit   int             // 1..MaxLimit; zero: DefaultLimit
	Cursor  string          // Next of the page before; empty: from the newest
}

// Page is one part of a listing.
type Page struct {
	Events []Event `json:"events" doc:"The events, newest first."`
	Next   string  `json:"next" doc:"Cursor of the next page; empty when this was the last."`
}

// Position is a place in the order of events. A listing goes on strictly after
// it, with what is older.
type Position struct {
	Millis int64 // Unix time
	ID     string
}

// Start is where a listing begins: all events come after it.
var Start = Position{Millis: 1 << 62}

// Check returns the filter with its defaults set and its cursor read, or an
// error that wraps ErrFilter.
func (f Filter) Check() (Filter, Position, error) {
	if f.Limit == 0 {
		f.Limit = DefaultLimit
	}
	if f.Limit < 0 || f.Limit > MaxLimit {
		return f, Start, fmt.Errorf("%w: limit must be 1 to %d", ErrFilter, MaxLimit)
	}
	if f.Outcome != "" && !slices.Contains(snippet.Outcomes(), f.Outcome) {
		return f, Start, fmt.Errorf("%w: unknown outcome", ErrFilter)
	}
	after, err := parsePosition(f.Cursor)
	return f, after, err
}

// Matches reports whether the filter chooses the event, its limit and cursor
// aside.
func (f Filter) Matches(e Event) bool {
	return (f.Scope == Everyone || f.Scope == e.Tenant) &&
		(f.Outcome == "" || f.Outcome == e.Outcome) &&
		!e.Time.Before(f.Since)
}

// PageOf makes a page of what a store found for a checked filter: in order, and
// one more than its limit if there are more.
func (f Filter) PageOf(found []Event) Page {
	if len(found) <= f.Limit {
		return Page{Events: append([]Event{}, found...)}
	}
	kept := found[:f.Limit]
	return Page{Events: kept, Next: PositionOf(kept[f.Limit-1]).String()}
}

// PositionOf is the event's place in the order.
func PositionOf(e Event) Position { return Position{e.Time.UnixMilli(), e.ID} }

// Newer reports whether p comes before q in a listing.
func (p Position) Newer(q Position) bool {
	return p.Millis > q.Millis || p.Millis == q.Millis && p.ID > q.ID
}

// String is the position as a cursor.
func (p Position) String() string { return strconv.FormatInt(p.Millis, 10) + "." + p.ID }

func parsePosition(cursor string) (Position, error) {
	if cursor == "" {
		return Start, nil
	}
	ms, id, _ := strings.Cut(cursor, ".")
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil || !idForm.MatchString(id) {
		return Start, fmt.Errorf("%w: not a cursor of this listing", ErrFilter)
	}
	return Position{n, id}, nil
}

// Newest sorts events, newest first, and keeps at most n. It merges what the
// shards of a store hold; it never returns nil.
func Newest(events []Event, n int) []Event {
	sorted := append([]Event{}, events...)
	slices.SortFunc(sorted, func(a, b Event) int {
		if PositionOf(a).Newer(PositionOf(b)) {
			return -1
		}
		return 1
	})
	return sorted[:min(n, len(sorted))]
}
