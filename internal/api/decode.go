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

// syntaxError means that a body is not JSON, or not an object. Its text is for
// the caller.
type syntaxError struct{ detail string }

func (e *syntaxError) Error() string { return e.detail }

const (
	textEncoding   = "utf-8"
	binaryEncoding = "base64"
)

// Bounds on the names of unknown fields that a problem repeats.
const (
	maxUnknown     = 8  // names
	maxUnknownName = 64 // characters of each
)

// wireRequest and wireFile hold the fields undecoded: each is decoded by itself,
// so that what is wrong is known by name.
type wireRequest struct {
	Code      jsontext.Value `json:"code"`
	TimeoutMS jsontext.Value `json:"timeout_ms"`
	Stdin     jsontext.Value `json:"stdin"`
	Files     jsontext.Value `json:"files"`
	Unknown   jsontext.Value `json:",embed"`
}

type wireFile struct {
	Path     jsontext.Value `json:"path"`
	Content  jsontext.Value `json:"content"`
	Encoding jsontext.Value `json:"encoding"`
	Unknown  jsontext.Value `json:",embed"`
}

// decode reads a body as a request. The error is a *syntaxError if the body is
// not a JSON object (RFC 8259, with unique names and valid Unicode, as RFC 7493
// asks), or else a snippet.FieldErrors with every fault that the request has.
func decode(body []byte) (snippet.Request, error) {
	var wire wireRequest
	if err := unmarshalObject(body, &wire); err != nil {
		return snippet.Request{}, err
	}
	d := &decoder{}
	req := snippet.Request{
		Code:    d.text("code", wire.Code),
		Timeout: d.timeout("timeout_ms", wire.TimeoutMS),
		Stdin:   d.text("stdin", wire.Stdin),
		Files:   d.files("files", wire.Files),
	}
	d.unknown("", wire.Unknown)
	return req, d.verdict(req)
}

// unmarshalObject turns the library's errors, which quote the input, into ours.
func unmarshalObject(text jsontext.Value, into any) error {
	err := json.Unmarshal(text, into)
	var syntax *jsontext.SyntacticError
	switch {
	case err == nil && text.Kind() == '{':
		return nil
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &syntaxError{"The body has an object in which a name occurs twice" + at(err) + "."}
	case errors.As(err, &syntax):
		return &syntaxError{"The body is not valid JSON" + at(err) + "."}
	}
	return &syntaxError{"The body must be a JSON object."}
}

func at(err error) string {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return ""
	}
	return " at byte " + strconv.FormatInt(syntax.ByteOffset, 10)
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
	list := jsontext.NewDecoder(bytes.NewReader(v))
	_, _ = list.ReadToken() // v was found to be valid, so nothing below can fail
	for list.PeekKind() != ']' && len(files) <= snippet.MaxFiles {
		item, _ := list.ReadValue()
		files = append(files, d.file(fmt.Sprintf("%s[%d]", field, len(files)), item))
	}
	return files
}

func (d *decoder) file(field string, v jsontext.Value) snippet.File {
	var wire wireFile
	if unmarshalObject(v, &wire) != nil {
		d.fault(field, "must be an object")
		return snippet.File{}
	}
	d.unknown(field+".", wire.Unknown)
	return snippet.File{
		Path:    d.text(field+".path", wire.Path),
		Content: d.content(field, wire),
	}
}

func (d *decoder) content(field string, wire wireFile) []byte {
	encoding := d.encoding(field+".encoding", wire.Encoding)
	field += ".content"
	if absent(wire.Content) {
		d.fault(field, "is required")
		return nil
	}
	text := d.text(field, wire.Content)
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

// unknown names the members that the contract does not have.
func (d *decoder) unknown(prefix string, members jsontext.Value) {
	if len(members) == 0 {
		return
	}
	object := jsontext.NewDecoder(bytes.NewReader(members))
	_, _ = object.ReadToken()
	for n := 0; object.PeekKind() == '"' && n < maxUnknown; n++ {
		name, _ := object.ReadToken()
		d.fault(prefix+shorten(name.String()), "is not a field of this request")
		_ = object.SkipValue()
	}
}

func shorten(name string) string {
	if utf8.RuneCountInString(name) <= maxUnknownName {
		return name
	}
	return string([]rune(name)[:maxUnknownName]) + "…"
}
