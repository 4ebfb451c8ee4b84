package gateway

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"cloche/internal/snippet"
)

// reply is what comes back from the runner: a verdict, or why there is none.
type reply struct {
	ID      string              `json:"id"`      // of the job
	Result  *snippet.Result     `json:"result"`  // null: nothing ran
	Fields  snippet.FieldErrors `json:"fields"`  // what of the request the runner's machine cannot do
	Refusal string              `json:"refusal"` // any other reason why nothing ran
	Runtime snippet.Runtime     `json:"runtime"`
	Fresh   bool                `json:"fresh"` // the first reply of its environment
	Diary   string              `json:"diary"` // what the runner logged since its last reply
}

// Bounds of a reply beyond those of its verdict, in characters.
const (
	maxDiary    = 8 << 10
	maxLayers   = 32
	maxLayer    = 500 // each text of a layer
	maxVersion  = 64
	maxProblems = 8
)

// errForged means that a reply is not one that our runner gives.
var errForged = errors.New("the runner's answer is not to be believed")

// decodeReply reads and checks everything but the verdict.
func decodeReply(payload []byte, id string) (reply, error) {
	var r reply
	if len(payload) > maxPayload {
		return r, fmt.Errorf("%w: it has %d bytes", errForged, len(payload))
	}
	if err := json.Unmarshal(payload, &r, json.RejectUnknownMembers(true)); err != nil {
		return r, fmt.Errorf("%w: its form", errForged) // the library's words would quote it
	}
	for _, c := range r.checks(id) {
		if !c.holds {
			return r, fmt.Errorf("%w: %s", errForged, c.field)
		}
	}
	return r, nil
}

// check is one thing that must hold of a reply.
type check struct {
	field string
	holds bool
}

func (r reply) checks(id string) []check {
	checks := []check{
		{"id", r.ID == id},
		{"one of result, fields and refusal", r.isOne()},
		{"fields", len(r.Fields) <= maxProblems},
		{"refusal", short(r.Refusal, maxLayer)},
		{"diary", short(r.Diary, maxDiary)},
		{"python", isLine(r.Runtime.Python, maxVersion)},
		{"layers", len(r.Runtime.Layers) <= maxLayers},
		{"packages", len(r.Runtime.Packages.List) <= snippet.MaxPackages && isCount(int64(r.Runtime.Packages.Omitted))},
	}
	for _, p := range r.Runtime.Packages.List {
		checks = append(checks, check{"package", isPackage(p)})
	}
	for _, l := range r.Runtime.Layers {
		checks = append(checks, check{"layer", isLine(l.Name, maxVersion) && isLine(l.Detail, maxLayer) && isLine(l.Means, maxLayer)})
	}
	return checks
}

// packageForm holds for the texts of a package, and for an empty one. They are
// shown to people and programs, so they are kept to what such names have.
var packageForm = regexp.MustCompile(`^[!-~]*$`)

func isPackage(p snippet.Package) bool {
	for _, text := range []string{p.Module, p.Distribution, p.Version} {
		if len(text) > snippet.MaxPackageText || !packageForm.MatchString(text) {
			return false
		}
	}
	return p.Module != ""
}

func (r reply) isOne() bool {
	n := 0
	for _, there := range []bool{r.Result != nil, len(r.Fields) > 0, r.Refusal != ""} {
		if there {
			n++
		}
	}
	return n == 1
}

// short reports whether a text has at most so many characters.
func short(s string, most int) bool {
	return len(s) <= most || utf8.RuneCountInString(s) <= most
}

// isLine reports whether a text is short and has nothing that a terminal or a
// page could take for more than text.
func isLine(s string, most int) bool {
	return short(s, most) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// clip makes a text short, and one line.
func clip(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if short(s, most) {
		return s
	}
	return string([]rune(s)[:most])
}
