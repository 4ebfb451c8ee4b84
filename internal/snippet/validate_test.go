package snippet

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestValidate(t *testing.T) {
	file := func(paths ...string) (files []File) {
		for _, p := range paths {
			files = append(files, File{Path: p})
		}
		return files
	}
	many := make([]string, MaxFiles+1)
	for i := range many {
		many[i] = fmt.Sprint("f", i)
	}
	big := []File{{"a", make([]byte, MaxFilesBytes)}, {"b", make([]byte, 1)}}
	for name, test := range map[string]struct {
		request Request
		fields  []string
	}{
		"plain":             {Request{Code: "1"}, nil},
		"all":               {Request{Code: "1", Timeout: MaxTimeout, Stdin: "\x00", Files: file("a/b", "a/c", `d\..\e`)}, nil},
		"no code":           {Request{}, []string{"code"}},
		"blank code":        {Request{Code: "\ufeff \t\r\n\u00a0\u3000"}, []string{"code"}},
		"comment":           {Request{Code: "#"}, nil},
		"NUL":               {Request{Code: "print(1)\x00print(2)"}, []string{"code"}},
		"code not UTF-8":    {Request{Code: "\xff"}, []string{"code"}},
		"surrogate half":    {Request{Code: "'\xed\xa0\x80'"}, []string{"code"}},
		"longest code":      {Request{Code: strings.Repeat("#", MaxCode)}, nil},
		"long code":         {Request{Code: strings.Repeat("é", MaxCode/2) + "#"}, []string{"code"}},
		"shortest timeout":  {Request{Code: "1", Timeout: MinTimeout}, nil},
		"short timeout":     {Request{Code: "1", Timeout: MinTimeout - 1}, []string{"timeout_ms"}},
		"negative timeout":  {Request{Code: "1", Timeout: -time.Second}, []string{"timeout_ms"}},
		"long timeout":      {Request{Code: "1", Timeout: MaxTimeout + 1}, []string{"timeout_ms"}},
		"longest stdin":     {Request{Code: "1", Stdin: strings.Repeat("x", MaxStdin)}, nil},
		"long stdin":        {Request{Code: "1", Stdin: strings.Repeat("x", MaxStdin+1)}, []string{"stdin"}},
		"stdin not UTF-8":   {Request{Code: "1", Stdin: "\x80"}, []string{"stdin"}},
		"most files":        {Request{Code: "1", Files: file(many[1:]...)}, nil},
		"many files":        {Request{Code: "1", Files: file(many...)}, []string{"files"}},
		"biggest files":     {Request{Code: "1", Files: big[:1]}, nil},
		"big files":         {Request{Code: "1", Files: big}, []string{"files"}},
		"same path":         {Request{Code: "1", Files: file("a", "b", "a")}, []string{"files[2].path"}},
		"file below a file": {Request{Code: "1", Files: file("d/x/y", "e", "d")}, []string{"files[0].path"}},
		"same beginning":    {Request{Code: "1", Files: file("d", "d.txt", "dd/x")}, nil},
		"several faults":    {Request{Timeout: 1, Files: file("../x", "ok", "")}, []string{"code", "timeout_ms", "files[0].path", "files[2].path"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			var errs FieldErrors
			if err := Validate(test.request); err != nil && !errors.As(err, &errs) {
				t.Fatalf("error is a %T", err)
			}
			for _, e := range errs {
				got = append(got, e.Field)
			}
			if d := cmp.Diff(test.fields, got); d != "" {
				t.Errorf("refused fields (-want +got):\n%s%v", d, errs)
			}
		})
	}
}

func TestValidateNeverEchoes(t *testing.T) {
	const canary = "c4n4ry"
	err := Validate(Request{
		Code:  canary + "\x00",
		Stdin: strings.Repeat(canary, MaxStdin),
		Files: []File{{Path: "../" + canary}, {Path: "x" + canary}, {Path: "x" + canary}},
	})
	if err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("error is missing or echoes the request: %v", err)
	}
}

func TestFieldErrorsCovers(t *testing.T) {
	errs := FieldErrors{{Field: "files[1]"}, {Field: "code"}}
	for field, want := range map[string]bool{
		"code": true, "files[1]": true, "files[1].path": true, "files[10].path": false, "files": false, "codec": false,
	} {
		if got := errs.Covers(field); got != want {
			t.Errorf("Covers(%q) = %v", field, got)
		}
	}
}

var paths = map[string]bool{
	"a": true, "a/b/c.txt": true, ".hidden": true, "..a": true, "...": true, "a..b/.../c": true,
	`..\x`: true, `C:\x`: true, "a b": true, "漢字/é": true, "a/~": true, "-rf": true, "\u202e": true,
	strings.Repeat("x", MaxPathPart): true, strings.Repeat("d/", MaxPathDepth-1) + "f": true,

	"": false, "/": false, "/abs": false, "//x": false, "~": false, "~/x": false, "~root/x": false,
	".": false, "..": false, "../x": false, "./x": false, "a/..": false, "a/../b": false, "a/./../../b": false,
	"a//b": false, "a/": false, "a\x00b": false, "a\nb": false, "\x7f": false, "a/\u0085": false,
	"\xff": false, "a/\xed\xa0\x80": false,
	strings.Repeat("x", MaxPathPart+1): false, strings.Repeat("é", 128): false,
	strings.Repeat("d/", MaxPathDepth) + "f": false,
}

func TestPathProblem(t *testing.T) {
	for path, good := range paths {
		if problem := PathProblem(path); (problem == "") != good {
			t.Errorf("PathProblem(%.40q) = %q", path, problem)
		}
	}
}
