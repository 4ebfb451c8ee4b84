package gateway

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"cloche/internal/snippet"
)

// Runner runs a job once, as the service's runner does.
type Runner interface {
	Run(ctx context.Context, job snippet.Job) (snippet.Result, error)
}

// Box is a Runner that describes what isolates its runs.
type Box interface {
	Runner
	Runtime() snippet.Runtime
}

// Fitted is a Box whose verdicts are small enough for a function's answer.
type Fitted struct{ Box }

// Run is the Box's, with contents of files left out where there is no room.
func (f Fitted) Run(ctx context.Context, job snippet.Job) (snippet.Result, error) {
	result, err := f.Box.Run(ctx, job)
	if err != nil {
		return snippet.Result{}, err
	}
	return fit(result)
}

// omitted says why a content is missing, in words for the caller.
var omitted = fmt.Sprintf("an answer may have %d bytes in all", maxPayload)

// fit leaves out contents, the largest first, until the verdict has at most
// maxPayload bytes where it takes most room: as text within JSON, in the event
// that answers API Gateway. Should the files' names alone be too large, entries
// go too.
func fit(r snippet.Result) (snippet.Result, error) { return fitInto(named(r), maxPayload) }

// named writes control characters in files' paths as \xNN, as the sandbox does
// with bytes that are not UTF-8, and leaves out files whose paths are too long or
// no longer their own. Snippets may call files what they like: no name may make
// a verdict one that is not believed.
func named(r snippet.Result) snippet.Result {
	files := make([]snippet.Artifact, 0, len(r.Files))
	taken := make(map[string]bool, len(r.Files))
	for _, a := range r.Files {
		a.Path = escaped(a.Path)
		if !isPath(a.Path) || taken[a.Path] {
			r.FilesOmitted++
			continue
		}
		taken[a.Path] = true
		files = append(files, a)
	}
	r.Files = files
	return r
}

func escaped(path string) string {
	if !strings.ContainsFunc(path, unicode.IsControl) {
		return path
	}
	var b strings.Builder
	for _, r := range path {
		if !unicode.IsControl(r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return b.String()
}

func fitInto(r snippet.Result, most int) (snippet.Result, error) {
	total, err := sizeOf(r, most)
	if err != nil || total <= most {
		return r, err
	}
	r.Files = slices.Clone(r.Files)
	for _, i := range bySize(r.Files) {
		if a := &r.Files[i]; total > most && a.Content != nil {
			content, _ := encode(*a.Content) // a string: cannot fail
			total -= textSize(content) - len(omitted)
			a.Content, a.SHA256, a.Encoding, a.Omitted = nil, nil, "utf-8", omitted
		}
	}
	for total > most && len(r.Files) > 0 && err == nil {
		half := len(r.Files) / 2
		r.FilesOmitted += len(r.Files) - half
		r.Files = r.Files[:half]
		total, err = sizeOf(r, most)
	}
	return r, err
}

// bySize lists the files' indexes, the largest content first.
func bySize(files []snippet.Artifact) []int {
	order := make([]int, len(files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(contentSize(files[j]), contentSize(files[i]))
	})
	return order
}

// sizeOf is the size of a verdict as text within JSON; 0 if it is clear without
// counting that it is at most that large.
func sizeOf(r snippet.Result, most int) (int, error) {
	if roughly(r) <= most {
		return 0, nil
	}
	body, err := encode(r)
	if err != nil {
		return 0, fmt.Errorf("encode verdict: %w", err)
	}
	return textSize(body), nil
}

// textSize is the size of JSON as text within JSON.
func textSize(body []byte) int {
	return len(body) + bytes.Count(body, []byte{'"'}) + bytes.Count(body, []byte{'\\'})
}

// roughly is above the size of a verdict as text within JSON. A control
// character takes most, seven bytes (\\u0000), and the names of all fields with
// their numbers take far less than room.
func roughly(r snippet.Result) int {
	const factor, room = 7, 100_000
	n := len(r.Stdout) + len(r.Stderr) + len(r.Hint)
	if r.Value != nil {
		n += len(*r.Value)
	}
	if r.Error != nil {
		n += len(r.Error.Type) + len(r.Error.Message) + len(r.Error.Traceback)
	}
	for _, b := range r.Blocked {
		n += len(b.Target) + len(b.File)
	}
	for _, f := range r.Files {
		n += len(f.Path) + contentSize(f)
	}
	return factor*n + room
}

func contentSize(f snippet.Artifact) int {
	if f.Content == nil {
		return 0
	}
	return len(*f.Content)
}
