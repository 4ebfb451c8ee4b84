package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
)

// LineKey is the key under which a log line holds an event. Log it as an
// attribute of a log/slog JSON line, slog.Any(metrics.LineKey, event), and the
// line can be replayed as it stands in the log.
const LineKey = "cloche_event"

// MaxLine is the longest line that DecodeLine reads, in bytes. An event with
// all its fields full takes about a tenth.
const MaxLine = 16 << 10

// ErrNoEvent means that a log line holds no event: skip it.
var ErrNoEvent = errors.New("line holds no event")

// EncodeLine is an event as a line for DecodeLine, without a line feed.
func EncodeLine(e Event) ([]byte, error) {
	line, err := json.Marshal(map[string]Event{LineKey: e})
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	return line, nil
}

// DecodeLine reads the event from a line of the log: a JSON object with
// LineKey among its keys. The error wraps ErrNoEvent for any other line, and
// ErrInvalid for an event that Cloche cannot have made. Who writes to the log
// is not known here, so an event is taken only if Validate accepts it.
func DecodeLine(line []byte) (Event, error) {
	if len(line) > MaxLine {
		return Event{}, fmt.Errorf("%w: longer than %d bytes", ErrNoEvent, MaxLine)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrNoEvent, err)
	}
	raw, ok := fields[LineKey]
	if !ok {
		return Event{}, ErrNoEvent
	}
	var e Event
	if err := json.Unmarshal(raw, &e); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	e = e.normal()
	return e, e.Validate()
}
