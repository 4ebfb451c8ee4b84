package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cloche/internal/snippet"
)

// responseSize is what a verdict takes in the event that answers API Gateway.
func responseSize(t *testing.T, r snippet.Result) int {
	t.Helper()
	body, err := encode(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := encode(string(body))
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

func TestFit(t *testing.T) {
	const most, kb = 200_000, 1000
	quotes := func(n int) snippet.Artifact { return fileOf(strings.Repeat(`"`, n)) }
	for name, test := range map[string]struct {
		files   []snippet.Artifact
		left    int // with their content
		entries int
	}{
		"small":                   {[]snippet.Artifact{fileOf("a")}, 1, 1},
		"as large as text may be": {[]snippet.Artifact{fileOf(strings.Repeat("é", 90*kb))}, 1, 1},
		"quotes":                  {[]snippet.Artifact{quotes(60 * kb)}, 0, 1},
		"the largest goes first":  {[]snippet.Artifact{fileOf("a"), quotes(50 * kb), quotes(30 * kb)}, 2, 3},
		"long names": {[]snippet.Artifact{
			{Path: strings.Repeat("a", 120*kb), Encoding: "utf-8", Omitted: "x"}, {Path: strings.Repeat("b", 120*kb), Encoding: "utf-8", Omitted: "x"},
		}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.files)
			result := *ordinary("id").Result
			result.Files = test.files
			fitted, err := fitInto(result, most)
			if err != nil {
				t.Fatal(err)
			}
			left := 0
			for _, f := range fitted.Files {
				if f.Content != nil {
					left++
				}
				if _, ok := contentOf(f); !ok {
					t.Errorf("a file that is not to be believed: %.200v", f)
				}
			}
			if size := responseSize(t, fitted); left != test.left || len(fitted.Files) != test.entries || size > most+1000 ||
				fitted.FilesOmitted != len(test.files)-test.entries {
				t.Errorf("%d files of %d with content, %d bytes", left, len(fitted.Files), size)
			}
			if !slices.Equal(before, test.files) {
				t.Error("the runner's own list was changed")
			}
		})
	}
}

// The quick answer must never be below the exact one.
func TestRoughlyIsAbove(t *testing.T) {
	for _, text := range []string{"a", "\x00", `"`, `\`, "\n", "é", "\xff"} {
		many := strings.Repeat(text, 2000)
		r := snippet.Result{
			Outcome: snippet.Error, Reason: snippet.Exception, Stdout: many, Stderr: many, Hint: many, Value: &many,
			Error: &snippet.Failure{Type: many, Message: many, Traceback: many},
		}
		for range 8 {
			r.Blocked = append(r.Blocked, snippet.Refusal{Rule: snippet.ImportDenied, Target: many, File: many})
			r.Files = append(r.Files, snippet.Artifact{Path: many, Content: &many, SHA256: ptr(strings.Repeat("0", 64))})
		}
		if exact := responseSize(t, r); roughly(r) < exact {
			t.Errorf("%q: %d is below %d", text, roughly(r), exact)
		}
	}
}

func TestFitted(t *testing.T) {
	fault := errors.New("bug")
	b := &box{run: func(snippet.Job) (snippet.Result, error) { return snippet.Result{}, fault }}
	if _, err := (Fitted{b}).Run(t.Context(), exampleJob()); !errors.Is(err, fault) {
		t.Errorf("error %v", err)
	}
}

func TestSchedule(t *testing.T) {
	fault := errors.New("it failed")
	var seen []Tick
	tick := scheduled(func(_ context.Context, tick Tick) error { seen = append(seen, tick); return fault })
	var event Tick
	if err := json.Unmarshal([]byte(`{"id": "53dc4d37", "time": "2030-01-01T12:00:00Z", "detail": {}}`), &event); err != nil {
		t.Fatal(err)
	}
	if err := tick(t.Context(), event); !errors.Is(err, fault) {
		t.Errorf("error %v", err)
	}
	if err := tick(t.Context(), Tick{}); !errors.Is(err, errTick) || len(seen) != 1 || seen[0].ID != "53dc4d37" {
		t.Errorf("ticks %v, error %v", seen, err)
	}
}

// A snippet may call its files what it likes: the verdict on it is still to be
// believed, and counts them all.
func TestNamesOfFiles(t *testing.T) {
	job := exampleJob()
	result := *ordinary(job.ID).Result
	for _, path := range []string{"a/b", "a\x1b[2J\n", `a\x1b[2J\x0a`, "\u009b", "~x", "..x", strings.Repeat("d/", maxPath) + "f"} {
		a := fileOf("text")
		a.Path = path
		result.Files = append(result.Files, a)
	}
	fitted, err := fit(result)
	if err == nil {
		err = believe(fitted, job, time.Second)
	}
	var paths []string
	for _, a := range fitted.Files {
		paths = append(paths, a.Path)
	}
	want := []string{"a/b", `a\x1b[2J\x0a`, `\xc2\x9b`, "~x", "..x"}
	if err != nil || !slices.Equal(paths, want) || fitted.FilesOmitted != 2 || result.Files[1].Path != "a\x1b[2J\n" {
		t.Errorf("files %q, %d omitted, error %v", paths, fitted.FilesOmitted, err)
	}
}
