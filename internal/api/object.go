package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// syntaxError means that a body is not JSON, or not an object. Its text is for
// the caller.
type syntaxError struct{ detail string }

func (e *syntaxError) Error() string { return e.detail }

// members reads an object: the values of known names, undecoded, and which
// other names there are; after maxUnknown of those it reads no further. A known
// name may come once. Names deeper inside are not compared here: the one object
// that may be inside a request is a file, which is read by this function too,
// and for all others a table of a million names would be built in vain.
func members(text jsontext.Value, known map[string]*jsontext.Value) (unknown []string, err error) {
	in := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	if in.PeekKind() != '{' {
		return nil, &syntaxError{"The body must be a JSON object."}
	}
	_, _ = in.ReadToken()
	for in.PeekKind() == '"' {
		name, _ := in.ReadToken()
		place, ok := known[name.String()]
		switch {
		case !ok:
			unknown = append(unknown, name.String())
			if len(unknown) == maxUnknown {
				return unknown, nil
			}
		case *place != nil:
			return nil, &syntaxError{fmt.Sprintf("The body has %s twice.", name.String())}
		}
		value, err := in.ReadValue()
		if err != nil {
			return nil, invalid(in, text)
		}
		if ok {
			end := in.InputOffset()
			*place = text[end-int64(len(value)) : end]
		}
	}
	return unknown, ending(in, text)
}

// ending makes sure that the object ends, and the text with it.
func ending(in *jsontext.Decoder, text jsontext.Value) error {
	if _, err := in.ReadToken(); err != nil {
		return invalid(in, text)
	}
	if _, err := in.ReadToken(); !errors.Is(err, io.EOF) {
		return &syntaxError{"The body goes on after the end of its JSON object."}
	}
	return nil
}

// invalid says what and where, and not with the library's words, which quote the
// text: what would be JSON if any text were taken has a fault in its text.
func invalid(in *jsontext.Decoder, text jsontext.Value) error {
	what := "is not valid JSON"
	if text.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		what = "has text that is not valid Unicode"
	}
	return &syntaxError{fmt.Sprintf("The body %s, at byte %d or after it.", what, in.InputOffset())}
}
