package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"cloche/internal/snippet"
)

// runsDir holds one file for each run of TestRuns; a new case is a new file.
//
// A file is a txtar archive. Its section "code" is the snippet, sections in/PATH
// are input files, and sections out/PATH are all the files that the answer must
// hold, with their content. Above the sections stand comments (#) and one
// directive a line; text in quotes is written as in Go:
//
//	timeout 500ms              the run's timeout
//	stdin "text"               the run's standard input
//	needs MODULE               skip where the interpreter lacks the module
//	reason R...                reasons that are right; required
//	unguarded R...             run it again without the guard, where these are right
//	exit N, signal NAME        how it must end
//	lasts 500ms                how long the run must take at least
//	stdout "text"              all of stdout; also stderr, value, error (the type)
//	stdout-has "text"          part of it; also stderr-has, message-has, traceback-has, hint-has
//	blocked "target"           a refusal of this target
//	line N                     the line of the error
//	truncated stdout|stderr    which streams must be cut
//	holds PATH "text"          the file, which starts with text, is in the answer
//	never "text"               text that is nowhere in the answer, nor in its files
const runsDir = "testdata/runs"

func TestRuns(t *testing.T) {
	files, err := filepath.Glob(runsDir + "/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", runsDir, err)
	}
	for _, path := range files {
		sc := parseScenario(t, path)
		name, _ := strings.CutPrefix(strings.TrimSuffix(path, ".txtar"), runsDir+"/")
		t.Run(name, func(t *testing.T) { sc.run(t) })
	}
	shared.get(t).settled(t, fixtureWorkers)
}

// scenario is one file of runsDir.
type scenario struct {
	job       snippet.Job
	needs     string
	reasons   []snippet.Reason
	unguarded []snippet.Reason
	never     []string
	cut       []string
	out       map[string]string // exact content by path
	holds     map[string]string // first bytes by path
	checks    []check
}

// check says what is wrong with a result; "" if nothing is.
type check func(snippet.Result) string

func parseScenario(t *testing.T, path string) *scenario {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sc := &scenario{job: job(""), out: map[string]string{}, holds: map[string]string{}}
	for _, f := range archive.Files {
		in, isIn := strings.CutPrefix(f.Name, "in/")
		out, isOut := strings.CutPrefix(f.Name, "out/")
		switch {
		case f.Name == "code":
			sc.job.Request.Code = string(f.Data)
		case isIn:
			sc.job.Request.Files = append(sc.job.Request.Files, snippet.File{Path: in, Content: f.Data})
		case isOut:
			sc.out[out] = string(f.Data)
		default:
			t.Fatalf("%s: section %q is neither code, in/PATH nor out/PATH", path, f.Name)
		}
	}
	for line := range strings.Lines(string(archive.Comment)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := sc.directive(line); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
	}
	if len(sc.reasons) == 0 || snippet.Validate(sc.job.Request) != nil {
		t.Fatalf("%s: it needs a reason and a valid request: %v", path, snippet.Validate(sc.job.Request))
	}
	return sc
}

func (sc *scenario) directive(line string) (err error) {
	word, rest, _ := strings.Cut(line, " ")
	text := rest
	if strings.HasPrefix(rest, `"`) {
		if text, err = strconv.Unquote(rest); err != nil {
			return err
		}
	}
	switch word {
	case "timeout":
		sc.job.Request.Timeout, err = time.ParseDuration(text)
	case "stdin":
		sc.job.Request.Stdin = text
	case "needs":
		sc.needs = text
	case "reason":
		sc.reasons, err = reasonsOf(text)
	case "unguarded":
		sc.unguarded, err = reasonsOf(text)
	case "lasts":
		least, err := time.ParseDuration(text)
		sc.checks = append(sc.checks, func(r snippet.Result) string {
			return differs(r.DurationMS >= milliseconds(least), "the run took %v ms, want at least %v", r.DurationMS, least)
		})
		return err
	case "never":
		sc.never = append(sc.never, text)
	case "truncated":
		sc.cut = append(sc.cut, text)
	case "holds":
		path, start, _ := strings.Cut(rest, " ")
		sc.holds[path], err = strconv.Unquote(start)
	default:
		return sc.expect(word, text)
	}
	return err
}

// expect adds the check of a directive that is about one part of the answer.
func (sc *scenario) expect(word, want string) error {
	name, isPart := strings.CutSuffix(word, "-has")
	part, known := parts[name]
	switch {
	case !known:
		return fmt.Errorf("unknown directive %q", word)
	case isPart:
		sc.checks = append(sc.checks, func(r snippet.Result) string {
			return differs(strings.Contains(part(r), want), "%s %q lacks %q", name, part(r), want)
		})
	case name == "blocked":
		sc.checks = append(sc.checks, func(r snippet.Result) string {
			return differs(slices.Contains(strings.Split(part(r), "\n"), want), "blocked %q lacks %q", part(r), want)
		})
	default:
		sc.checks = append(sc.checks, func(r snippet.Result) string {
			return differs(part(r) == want, "%s %q, want %q", name, part(r), want)
		})
	}
	return nil
}

// parts are the parts of an answer that a directive can be about, as text.
var parts = map[string]func(snippet.Result) string{
	"stdout":    func(r snippet.Result) string { return r.Stdout },
	"stderr":    func(r snippet.Result) string { return r.Stderr },
	"hint":      func(r snippet.Result) string { return r.Hint },
	"value":     func(r snippet.Result) string { return orNull(r.Value) },
	"signal":    func(r snippet.Result) string { return orNull(r.Signal) },
	"exit":      func(r snippet.Result) string { return orNull(r.ExitCode) },
	"error":     func(r snippet.Result) string { return failure(r).Type },
	"message":   func(r snippet.Result) string { return failure(r).Message },
	"traceback": func(r snippet.Result) string { return failure(r).Traceback },
	"line":      func(r snippet.Result) string { return orNull(failure(r).Line) },
	"blocked": func(r snippet.Result) string {
		targets := make([]string, len(r.Blocked))
		for i, b := range r.Blocked {
			targets[i] = b.Target
		}
		return strings.Join(targets, "\n")
	},
}

func orNull[T any](v *T) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(*v)
}

func failure(r snippet.Result) snippet.Failure {
	if r.Error == nil {
		return snippet.Failure{}
	}
	return *r.Error
}

func differs(ok bool, format string, args ...any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func reasonsOf(text string) ([]snippet.Reason, error) {
	var out []snippet.Reason
	for word := range strings.FieldsSeq(text) {
		r := snippet.Reason(word)
		if r.Outcome() == "" {
			return nil, fmt.Errorf("%q is no reason", word)
		}
		out = append(out, r)
	}
	return out, nil
}

func (sc *scenario) run(t *testing.T) {
	s := shared.get(t)
	if sc.needs != "" && s.run(t, job("import "+sc.needs)).Outcome != snippet.OK {
		t.Skipf("the interpreter has no module %s", sc.needs)
	}
	if sc.usesFiles() {
		shared.withFiles(t)
	}
	r := s.run(t, sc.job)
	wellFormed(t, r)
	if !slices.Contains(sc.reasons, r.Reason) {
		t.Errorf("reason %s, want %v; stderr %q", r.Reason, sc.reasons, r.Stderr)
	}
	for _, check := range sc.checks {
		if fault := check(r); fault != "" {
			t.Error(fault)
		}
	}
	if r.StdoutTruncated != slices.Contains(sc.cut, "stdout") || r.StderrTruncated != slices.Contains(sc.cut, "stderr") {
		t.Errorf("truncated stdout %v, stderr %v, want %v", r.StdoutTruncated, r.StderrTruncated, sc.cut)
	}
	sc.checkFiles(t, r)
	sc.checkNever(t, r)
	if len(sc.unguarded) > 0 && s.layers.seccomp {
		sc.runUnguarded(t)
	}
}

func (sc *scenario) usesFiles() bool {
	return len(sc.job.Request.Files) > 0 || len(sc.out) > 0 || len(sc.holds) > 0
}

// runUnguarded leaves the run to the kernel's layers.
func (sc *scenario) runUnguarded(t *testing.T) {
	r := unguarded.get(t).run(t, sc.job)
	if !slices.Contains(sc.unguarded, r.Reason) {
		t.Errorf("without the guard: reason %s, want %v; stdout %q, stderr %q", r.Reason, sc.unguarded, r.Stdout, r.Stderr)
	}
	sc.checkNever(t, r)
}

func (sc *scenario) checkFiles(t *testing.T, r snippet.Result) {
	t.Helper()
	got := map[string]string{}
	for _, a := range r.Files {
		got[a.Path] = contentOf(t, a)
	}
	for path, want := range sc.out {
		if content, there := got[path]; !there || content != want {
			t.Errorf("file %s: %q (there: %v), want %q", path, content, there, want)
		}
	}
	for path, start := range sc.holds {
		if content, there := got[path]; !there || !strings.HasPrefix(content, start) {
			t.Errorf("file %s: %.60q (there: %v), want one that starts with %q", path, content, there, start)
		}
	}
	for path := range got {
		_, exact := sc.out[path]
		if _, start := sc.holds[path]; !exact && !start {
			t.Errorf("the answer holds %s, which nobody asked for", path)
		}
	}
}

func (sc *scenario) checkNever(t *testing.T, r snippet.Result) {
	t.Helper()
	for _, text := range sc.never {
		if strings.Contains(everything(t, r), text) {
			t.Errorf("the answer shows %q:\n%s", text, everything(t, r))
		}
	}
}

// everything is all text that a caller could read in an answer, decoded.
func everything(t testing.TB, r snippet.Result) string {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{string(text), r.Stdout, r.Stderr, failure(r).Message, failure(r).Traceback, orNull(r.Value)}
	for _, a := range r.Files {
		all = append(all, contentOf(t, a))
	}
	return strings.Join(all, "\n")
}

// contentOf decodes a file; "" if its content is omitted.
func contentOf(t testing.TB, a snippet.Artifact) string {
	t.Helper()
	switch {
	case a.Content == nil:
		return ""
	case a.Encoding == "utf-8":
		return *a.Content
	}
	raw, err := base64.StdEncoding.DecodeString(*a.Content)
	if err != nil {
		t.Errorf("file %s: %v", a.Path, err)
	}
	return string(raw)
}

// wellFormed holds what is true for every answer.
func wellFormed(t testing.TB, r snippet.Result) {
	t.Helper()
	fault := func(format string, args ...any) {
		t.Helper()
		t.Errorf("the answer is not well formed: "+format, args...)
	}
	text, err := json.Marshal(r)
	if err != nil || !utf8.Valid(text) {
		fault("its JSON: %v", err)
	}
	if r.Outcome == "" || r.Outcome != r.Reason.Outcome() {
		fault("outcome %q with reason %q", r.Outcome, r.Reason)
	}
	if r.Outcome == snippet.OK && orNull(r.ExitCode) != "0" {
		fault("OK with exit code %s", orNull(r.ExitCode))
	}
	if r.Outcome == snippet.Blocked && len(r.Blocked) == 0 {
		fault("BLOCKED without saying what")
	}
	if (r.Reason == snippet.Exception || r.Reason == snippet.SyntaxError) && failure(r).Type == "" {
		fault("%s without error.type", r.Reason)
	}
	if r.Reason != snippet.SandboxFailure && (r.ExitCode == nil) == (r.Signal == nil) {
		fault("exit code %s with signal %s", orNull(r.ExitCode), orNull(r.Signal))
	}
	if r.DurationMS <= 0 || r.CPUMS < 0 || r.PeakMemoryBytes < 0 {
		fault("duration %v, cpu %v, peak %v", r.DurationMS, r.CPUMS, r.PeakMemoryBytes)
	}
	limits := snippet.DefaultLimits()
	checkStream(fault, "stdout", r.Stdout, r.StdoutBytes, r.StdoutTruncated, limits.StdoutChars)
	checkStream(fault, "stderr", r.Stderr, r.StderrBytes, r.StderrTruncated, limits.StderrChars)
	checkFailure(fault, r.Error)
	checkArtifacts(fault, r.Files)
}

func checkStream(fault func(string, ...any), name, text string, total int64, truncated bool, most int) {
	if n := utf8.RuneCountInString(text); n > most {
		fault("%s has %d characters", name, n)
	}
	if !truncated && !strings.ContainsRune(text, utf8.RuneError) && total != int64(len(text)) {
		fault("%s_bytes %d for %d bytes", name, total, len(text))
	}
}

var frame = regexp.MustCompile(`(?m)^ *\|? *File "([^"]*)"`)

// checkFailure allows the snippet's own frames only: <snippet>, code that it
// compiled itself, and its files by their relative path.
func checkFailure(fault func(string, ...any), e *snippet.Failure) {
	if e == nil {
		return
	}
	for name, size := range map[string][2]int{
		"message":   {utf8.RuneCountInString(e.Message), snippet.MaxMessage},
		"traceback": {utf8.RuneCountInString(e.Traceback), snippet.MaxTraceback},
	} {
		if size[0] > size[1] {
			fault("error.%s has %d characters, at most %d", name, size[0], size[1])
		}
	}
	for _, m := range frame.FindAllStringSubmatch(e.Traceback, -1) {
		if strings.HasPrefix(m[1], "/") || strings.HasPrefix(m[1], "<cloche>") || strings.HasPrefix(m[1], "<frozen") {
			fault("a foreign frame: %s", m[1])
		}
	}
}

func checkArtifacts(fault func(string, ...any), files []snippet.Artifact) {
	var total int64
	seen := map[string]bool{}
	for _, a := range files {
		if seen[a.Path] || !utf8.ValidString(a.Path) || a.Path == "" {
			fault("file path %q", a.Path)
		}
		seen[a.Path] = true
		if (a.Content == nil) != (a.SHA256 == nil) || (a.Content == nil) != (a.Omitted != "") {
			fault("file %q is neither there nor omitted", a.Path)
		}
		if a.Content != nil {
			total += a.Size
		}
	}
	if len(files) > snippet.MaxArtifacts || total > snippet.MaxArtifact {
		fault("%d files with %d bytes", len(files), total)
	}
}

// TestScenarioParser keeps a misspelt file from passing for nothing.
func TestScenarioParser(t *testing.T) {
	for _, line := range []string{"reason okay", "stdot \"x\"", "stdout \"x", "timeout soon", "holds a.txt text", "blocked-with x"} {
		sc := &scenario{holds: map[string]string{}}
		if err := sc.directive(line); err == nil {
			t.Errorf("directive %q is taken", line)
		}
	}
}
