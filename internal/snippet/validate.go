package snippet

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The limits of a Request, in one place: Validate enforces them and the
// OpenAPI document shows them.
const (
	MaxCode        = 64 << 10  // bytes of UTF-8
	MaxStdin       = 256 << 10 // bytes of UTF-8
	MinTimeout     = 100 * time.Millisecond
	MaxTimeout     = 20 * time.Second
	DefaultTimeout = 5 * time.Second
	MaxFiles       = 32
	MaxFilesBytes  = 3 << 20                          // decoded contents of all files together
	MaxPathPart    = 255                              // bytes; NAME_MAX in Linux' limits.h
	MaxPathDepth   = 16                               // parts
	MaxPath        = MaxPathDepth*(MaxPathPart+1) - 1 // bytes; follows from the two above
)

// FieldError says what is wrong with one field, in words that are safe to show:
// they never hold the field's value.
type FieldError struct {
	Field   string `json:"field" doc:"Field or header that was refused, such as code or files[2].path."`
	Problem string `json:"problem" doc:"What is wrong with it and what is accepted."`
}

// FieldErrors lists every fault of a request, at most one a field.
type FieldErrors []FieldError

// Error joins the faults into one line.
func (e FieldErrors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Field + " " + f.Problem
	}
	return strings.Join(lines, "; ")
}

// Covers reports whether the list already names field or something that field
// is a part of: files[2] covers files[2].path.
func (e FieldErrors) Covers(field string) bool {
	return slices.ContainsFunc(e, func(f FieldError) bool {
		rest, inside := strings.CutPrefix(field, f.Field)
		return inside && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

func (e *FieldErrors) add(field, problem string) {
	if problem != "" {
		*e = append(*e, FieldError{field, problem})
	}
}

// Validate checks r against the limits above. The error is a FieldErrors with
// every fault, or nil.
func Validate(r Request) error {
	var errs FieldErrors
	errs.add("code", codeProblem(r.Code))
	if r.Timeout != 0 {
		errs.add("timeout_ms", TimeoutProblem(r.Timeout))
	}
	errs.add("stdin", textProblem(r.Stdin, MaxStdin))
	errs.add("files", filesProblem(r.Files))
	if !errs.Covers("files") {
		errs.addPaths(r.Files)
	}
	if len(errs) == 0 {
		return nil
	}
	return errs
}

// TimeoutProblem says what is wrong with a timeout that a caller asked for; ""
// if nothing is. Unlike in Request, zero is wrong here.
func TimeoutProblem(d time.Duration) string {
	if d < MinTimeout || d > MaxTimeout {
		return fmt.Sprintf("must be between %d and %d", MinTimeout.Milliseconds(), MaxTimeout.Milliseconds())
	}
	return ""
}

func codeProblem(code string) string {
	switch {
	case code == "":
		return "is required and must not be empty"
	case strings.IndexByte(code, 0) >= 0:
		return "must not contain NUL characters"
	case strings.TrimFunc(code, blank) == "":
		return "must not be blank"
	}
	return textProblem(code, MaxCode)
}

// blank also holds for the byte order mark, which Python skips before code.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

func textProblem(text string, limit int) string {
	if len(text) > limit {
		return fmt.Sprintf("must be at most %d bytes of UTF-8", limit)
	}
	if !utf8.ValidString(text) {
		return "must be valid UTF-8"
	}
	return ""
}

func filesProblem(files []File) string {
	if len(files) > MaxFiles {
		return fmt.Sprintf("must be at most %d files", MaxFiles)
	}
	total := 0
	for _, f := range files {
		total += len(f.Content)
	}
	if total > MaxFilesBytes {
		return fmt.Sprintf("must be at most %d bytes together, decoded", MaxFilesBytes)
	}
	return ""
}
