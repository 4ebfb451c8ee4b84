package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// coveredFile lists the public cases whose rule the runner of the cases leaves to
// a test, and the test that holds it: ID FOLDER TEST[/SUBTEST].
const coveredFile = "testdata/covered.txt"

// casesVariable names a file of such cases, one JSON object a line.
const casesVariable = "CLOCHE_CASES"

// coverage is one line of coveredFile.
type coverage struct{ id, folder, test string }

func readCovered(t *testing.T) []coverage {
	t.Helper()
	text, err := os.ReadFile(coveredFile)
	if err != nil {
		t.Fatal(err)
	}
	var out []coverage
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		if len(fields) != 3 {
			t.Errorf("%s: %q is not an id, a folder and a test", coveredFile, line)
			continue
		}
		out = append(out, coverage{fields[0], fields[1], fields[2]})
	}
	return out
}

// What the list promises must be there.
func TestCoveredTestsExist(t *testing.T) {
	packages := map[string]map[string][]string{}
	for _, c := range readCovered(t) {
		if packages[c.folder] == nil {
			packages[c.folder] = testsIn(t, filepath.Join("..", "..", c.folder))
		}
		name, sub, nested := strings.Cut(c.test, "/")
		texts, there := packages[c.folder][name]
		switch {
		case !there:
			t.Errorf("%s: %s has no test %s", c.id, c.folder, name)
		case nested && name == "TestRuns":
			if _, err := os.Stat(filepath.Join(runsDir, sub+".txtar")); err != nil {
				t.Errorf("%s: %v", c.id, err)
			}
		case nested && !slices.Contains(texts, sub):
			t.Errorf("%s: %s of %s has no part %s", c.id, name, c.folder, sub)
		}
	}
}

// testsIn lists the tests of a folder, each with the texts in it, written as
// names of subtests are.
func testsIn(t *testing.T, folder string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string][]string{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = textsIn(f)
			}
		}
	}
	return tests
}

func textsIn(f *ast.FuncDecl) (texts []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, strings.ReplaceAll(text, " ", "_"))
			}
		}
		return true
	})
	return texts
}

// Every case that the runner cannot judge to its end is on the list.
func TestCasesAreCovered(t *testing.T) {
	name := os.Getenv(casesVariable)
	if name == "" {
		t.Skipf("%s names no file of cases", casesVariable)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, c := range readCovered(t) {
		listed[c.id] = true
	}
	var left []string
	for line := range bytes.Lines(text) {
		var c publicCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if why := c.unjudged(); why != "" && c.ours() && !listed[c.ID] {
			left = append(left, fmt.Sprintf("%s (%s)", c.ID, why))
		}
	}
	if len(left) > 0 {
		t.Errorf("these cases have a rule of their own and no test:\n%s", strings.Join(left, "\n"))
	}
}

// publicCase is a case as far as its predicate needs it.
type publicCase struct {
	ID      string                     `json:"id"`
	Code    *string                    `json:"code"`
	Request any                        `json:"request"`
	Expect  map[string]json.RawMessage `json:"expect"`
}

// ours: the cases about the run itself and its wire.
func (c publicCase) ours() bool {
	area, _, _ := strings.Cut(c.ID, "-")
	return slices.Contains([]string{"ESC", "LEG", "OUT", "VAL", "API", "CON", "RES"}, area)
}

// What the runner can do: the expectations that it judges, the forms of request
// that it cannot send, and the words about what is left behind that it knows.
var (
	judged = []string{
		"outcome", "stdout", "stdout_any", "stdout_contains", "stderr_contains", "exit_code", "not_contains",
		"http_status", "max_seconds", "stdout_truncated", "stdout_differs_from_step", "after",
	}
	unsent     = []string{"procedure", "lambda_event", "lambda_event_expr", "code_from", "setup", "context", "also", "via", "repeat_expr"}
	knownWords = []string{"next_request_ok", "service_alive", "slots_restored"}
	knownParts = []string{"process", "slots", "pid", "zombie", "file", "/tmp", "created outside", "disk", "fd count", "memory_bounded"}
)

// unjudged says what in the case the runner leaves to a test; "" if nothing.
func (c publicCase) unjudged() string {
	if c.Code == nil {
		if key := anyKey(c.Request, unsent); key != "" {
			return "request: " + key
		}
		if c.Request == nil {
			return "no request"
		}
		if anyKey(c.Request, []string{"check", "after"}) != "" {
			return "a rule within the request"
		}
	}
	for key, value := range c.Expect {
		if !slices.Contains(judged, key) {
			return key
		}
		if key == "after" {
			if word := unknownWord(value); word != "" {
				return "after: " + word
			}
		}
	}
	return ""
}

// anyKey returns the first of keys that occurs in v or in anything within it.
func anyKey(v any, keys []string) string {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if slices.Contains(keys, key) {
				return key
			}
			if found := anyKey(inner, keys); found != "" {
				return found
			}
		}
	case []any:
		for _, inner := range v {
			if found := anyKey(inner, keys); found != "" {
				return found
			}
		}
	}
	return ""
}

func unknownWord(value json.RawMessage) string {
	var words []string
	if json.Unmarshal(value, &words) != nil {
		return string(value)
	}
	for _, word := range words {
		known := slices.Contains(knownWords, word) ||
			slices.ContainsFunc(knownParts, func(part string) bool { return strings.Contains(word, part) })
		if !known || strings.Contains(word, "ever started") { // it counts what is there, not what was
			return word
		}
	}
	return ""
}

// The predicate itself, or a case that it overlooks would pass for covered.
func TestUnjudged(t *testing.T) {
	for text, want := range map[string]bool{
		`{"code":"1","expect":{"outcome":["OK"],"stdout":"1"}}`:                                         false,
		`{"code":"1","expect":{"outcome":["OK"],"check":"a rule"}}`:                                     true,
		`{"code":"1","expect":{"outcome":["OK"],"colour":"red"}}`:                                       true,
		`{"code":"1","expect":{"after":["next_request_ok","no_leftover_file"]}}`:                        false,
		`{"code":"1","expect":{"after":["no up.txt anywhere"]}}`:                                        true,
		`{"code":"1","expect":{"after":["no process was ever started"]}}`:                               true,
		`{"request":{"method":"GET","path":"/"},"expect":{}}`:                                           false,
		`{"request":{"procedure":"do it"},"expect":{}}`:                                                 true,
		`{"request":{"steps":[{"code":"1"},{"code":"2","via":"lambda"}]},"expect":{}}`:                  true,
		`{"request":{"steps":[{"code":"1","expect":{"outcome":["OK"],"check":"a rule"}}]},"expect":{}}`: true,
		`{"request":{"parallel":[{"code":"1","repeat":3,"expect":{"outcome":["OK"]}}]},"expect":{}}`:    false,
		`{"expect":{"outcome":["OK"]}}`:                                                                 true,
	} {
		var c publicCase
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		if got := c.unjudged(); (got != "") != want {
			t.Errorf("%s: %q, want a reason: %v", text, got, want)
		}
	}
}
