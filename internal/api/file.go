package api

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"cloche/internal/snippet"
)

// How the content of a file may be written.
const (
	textEncoding   = "utf-8"
	binaryEncoding = "base64"
)

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
