package api

import (
	"errors"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cloche/internal/snippet"
)

// Bounds on the names of unknown fields that a problem repeats.
const (
	maxUnknown     = 8  // names; more end the reading
	maxUnknownName = 64 // characters of each
)

// decode reads a body as a request. The error is a *syntaxError if the body is
// not a JSON object (RFC 8259, with unique names and valid Unicode, as RFC 7493
// asks), or else a snippet.FieldErrors with every fault that the request has.
func decode(body []byte) (snippet.Request, error) {
	var code, timeout, stdin, files jsontext.Value
	unknown, err := members(body, map[string]*jsontext.Value{
		"code": &code, "timeout_ms": &timeout, "stdin": &stdin, "files": &files,
	})
	if err != nil {
		return snippet.Request{}, err
	}
	d := &decoder{}
	d.unknown("", unknown)
	if len(unknown) == maxUnknown {
		return snippet.Request{}, d.faults
	}
	req := snippet.Request{
		Code:    d.text("code", code),
		Timeout: d.timeout("timeout_ms", timeout),
		Stdin:   d.text("stdin", stdin),
		Files:   d.files("files", files),
	}
	return req, d.verdict(req)
}

// decoder collects the faults of fields. A field that is absent or null is the
// zero value.
type decoder struct{ faults snippet.FieldErrors }

func (d *decoder) fault(field, problem string) {
	d.faults = append(d.faults, snippet.FieldError{Field: field, Problem: problem})
}

// verdict adds what Validate finds in the fields that could be decoded.
func (d *decoder) verdict(req snippet.Request) error {
	var more snippet.FieldErrors
	errors.As(snippet.Validate(req), &more)
	for _, f := range more {
		if !d.faults.Covers(f.Field) {
			d.faults = append(d.faults, f)
		}
	}
	if len(d.faults) == 0 {
		return nil
	}
	return d.faults
}

func absent(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }

func (d *decoder) text(field string, v jsontext.Value) (s string) {
	if absent(v) {
		return ""
	}
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		d.fault(field, "must be a string")
	}
	return s
}

// timeout takes every way to write a whole number, 5000.0 and 5e3 among them, as
// JSON Schema does.
func (d *decoder) timeout(field string, v jsontext.Value) time.Duration {
	if absent(v) {
		return 0
	}
	ms, err := strconv.ParseFloat(string(v), 64)
	if v.Kind() != '0' || (err == nil && ms != math.Trunc(ms)) {
		d.fault(field, "must be an integer")
		return 0
	}
	ms = min(max(ms, -1), math.MaxInt32) // far outside the limits, and fit for a Duration
	timeout := time.Duration(ms) * time.Millisecond
	if problem := snippet.TimeoutProblem(timeout); problem != "" {
		d.fault(field, problem)
	}
	return timeout
}

// unknown faults names that the contract does not have, shortened: they are
// the one thing of a request that a problem repeats.
func (d *decoder) unknown(prefix string, names []string) {
	for _, name := range names {
		d.fault(prefix+shorten(name), "is not a field of this request")
	}
}

func shorten(name string) string {
	if utf8.RuneCountInString(name) <= maxUnknownName {
		return name
	}
	return string([]rune(name)[:maxUnknownName]) + "…"
}
