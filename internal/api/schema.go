package api

import (
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"cloche/internal/snippet"
)

// executeRequest describes the body of POST /execute. Its limits come from the
// table in the package snippet; see refine.
type executeRequest struct {
	Code      string     `json:"code"`
	TimeoutMS *int       `json:"timeout_ms,omitempty" nullable:"true" doc:"Deadline in milliseconds of wall clock time, without the wait for a slot."`
	Stdin     *string    `json:"stdin,omitempty" nullable:"true"`
	Files     []fileItem `json:"files,omitempty"`
}

type fileItem struct {
	Path     string  `json:"path"`
	Content  string  `json:"content" doc:"Content, written as encoding says."`
	Encoding *string `json:"encoding,omitempty" nullable:"true" default:"utf-8" doc:"How content is written; base64 is the standard alphabet with padding and without line breaks."`
}

// reasonSchema and orNull stand in for types that huma cannot describe by itself:
// a closed set, and an object T that a field may have or null.
type (
	reasonSchema  struct{}
	orNull[T any] struct{}
)

// Schema lists the reasons.
func (reasonSchema) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, r := range snippet.Reasons() {
		s.Enum = append(s.Enum, r)
	}
	return s
}

// Schema is that of T in place: a reference could not be null.
func (orNull[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}

// refine adds what tags cannot say. Lengths are in characters here and in bytes
// in the rules, so these bounds are necessary and not always enough.
func (d *document) refine() {
	all := d.schemas.Map()
	for _, s := range all {
		for _, p := range s.Properties {
			p.Nullable = p.Nullable && p.Type != huma.TypeArray
		}
	}
	request, file := all["ExecuteRequest"].Properties, all["FileItem"].Properties

	text(request["code"], "The Python source: at most %d bytes of UTF-8, not blank, without NUL.", snippet.MaxCode)
	request["code"].MinLength = integer(1)
	request["code"].Pattern = codePattern
	text(request["stdin"], "Standard input: at most %d bytes of UTF-8; end of file when absent.", snippet.MaxStdin)
	request["stdin"].Default = ""
	request["timeout_ms"].Minimum = number(snippet.MinTimeout.Milliseconds())
	request["timeout_ms"].Maximum = number(snippet.MaxTimeout.Milliseconds())
	request["timeout_ms"].Default = snippet.DefaultTimeout.Milliseconds()
	request["files"].Description = fmt.Sprintf("Files in the work folder: at most %d bytes together, decoded. "+
		"No path may be given twice or lie below that of another file.", snippet.MaxFilesBytes)
	request["files"].MaxItems = integer(snippet.MaxFiles)
	request["files"].UniqueItems = true
	request["files"].Nullable = true
	request["files"].Default = []any{}

	text(file["path"], "Path in the work folder: at most %d bytes, relative, without empty, . and .. parts, ~ at the beginning and control characters; "+
		fmt.Sprintf("at most %d parts of %d bytes.", snippet.MaxPathDepth, snippet.MaxPathPart), snippet.MaxPath)
	file["path"].MinLength = integer(1)
	file["path"].Pattern = snippet.PathPattern
	file["path"].Not = &huma.Schema{AnyOf: []*huma.Schema{
		{Pattern: fmt.Sprintf("^(?:[^/]*/){%d}", snippet.MaxPathDepth)},
		{Pattern: fmt.Sprintf("[^/]{%d}", snippet.MaxPathPart+1)},
	}}
	file["content"].MaxLength = integer((snippet.MaxFilesBytes + 2) / 3 * 4)
	file["encoding"].Enum = []any{textEncoding, binaryEncoding, nil}
}

// codePattern is "no NUL, and something that is not blank".
const codePattern = "^[^\\x00]*[^\\s\\x00\ufeff][^\\x00]*$"

func text(s *huma.Schema, description string, most int) {
	s.Description = fmt.Sprintf(description, most)
	s.MaxLength = integer(most)
}

func integer(n int) *int { return &n }

func number[N int | int64](n N) *float64 {
	f := float64(n)
	return &f
}
