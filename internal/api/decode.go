package api

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cloche/internal/snippet"
)

const (
	textEncoding   = "utf-8"
	binaryEncoding = "base64"
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

// files stops at the first file too many: a list can be much longer than what
// it may hold.
func (d *decoder) files(field string, v jsontext.Value) (files []snippet.File) {
	if absent(v) {
		return nil
	}
	if v.Kind() != '[' {
		d.fault(field, "must be a list")
		return nil
	}
	list := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	_, _ = list.ReadToken() // members found v to be valid, so nothing below can fail
	for list.PeekKind() != ']' && len(files) <= snippet.MaxFiles {
		item, _ := list.ReadValue()
		files = append(files, d.file(fmt.Sprintf("%s[%d]", field, len(files)), item))
	}
	return files
}

func (d *decoder) file(field string, v jsontext.Value) snippet.File {
	var path, content, encoding jsontext.Value
	unknown, err := members(v, map[string]*jsontext.Value{"path": &path, "content": &content, "encoding": &encoding})
	if err != nil || len(unknown) == maxUnknown {
		d.fault(field, "must be an object with path, content and encoding, each once")
		return snippet.File{}
	}
	d.unknown(field+".", unknown)
	return snippet.File{
		Path:    d.text(field+".path", path),
		Content: d.content(field+".content", content, d.encoding(field+".encoding", encoding)),
	}
}

func (d *decoder) content(field string, v jsontext.Value, encoding string) []byte {
	if absent(v) {
		d.fault(field, "is required")
		return nil
	}
	text := d.text(field, v)
	if encoding == textEncoding {
		return []byte(text)
	}
	content, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // which the decoder skips
		d.fault(field, "must be standard base64 with padding and without line breaks")
	}
	return content
}

func (d *decoder) encoding(field string, v jsontext.Value) string {
	if absent(v) {
		return textEncoding
	}
	name := d.text(field, v)
	if name == binaryEncoding || name == textEncoding {
		return name
	}
	if !d.faults.Covers(field) {
		d.fault(field, fmt.Sprintf("must be %q or %q", textEncoding, binaryEncoding))
	}
	return textEncoding
}

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
