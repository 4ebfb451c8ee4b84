//go:build linux

package main

import (
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"cloche/internal/api"
	"cloche/internal/metrics"
	"cloche/internal/metrics/prom"
	"cloche/internal/service"
	"cloche/internal/snippet"
)

// root is the module's folder, seen from this one.
const root = "../.."

// The contract must be explained whole.
func TestDocsNameEveryFieldAndReason(t *testing.T) {
	text := readDoc(t, "docs/api.md")
	names := fieldsOf(reflect.TypeFor[snippet.Result]())
	names = append(names, fieldsOf(reflect.TypeFor[api.Metrics]())...)
	names = append(names, fieldsOf(reflect.TypeFor[metrics.Page]())...)
	names = append(names, fieldsOf(reflect.TypeFor[service.DemoReport]())...)
	names = append(names, fieldsOf(reflect.TypeFor[api.Packages]())...)
	for _, name := range names {
		if !regexp.MustCompile("`([a-z]+(\\[\\])?\\.)?" + name + "`").MatchString(text) {
			t.Errorf("docs/api.md does not explain the field %s", name)
		}
	}
	for _, reason := range snippet.Reasons() {
		if !strings.Contains(text, "`"+string(reason)+"`") {
			t.Errorf("docs/api.md does not explain the reason %s", reason)
		}
	}
}

// What a scrape shows must be explained.
func TestDocsNameEveryMetric(t *testing.T) {
	text := readDoc(t, "docs/operations.md")
	var scrape strings.Builder
	if err := prom.Write(&scrape, metrics.State{Now: time.Now()}.Snapshot(), metrics.Load{}); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\w+) `).FindAllStringSubmatch(scrape.String(), -1) {
		if !strings.Contains(text, "`"+m[1]) {
			t.Errorf("docs/operations.md does not explain %s", m[1])
		}
	}
}

// fieldsOf lists the JSON names of a struct and of what it holds.
func fieldsOf(t reflect.Type) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for f := range t.Fields() {
		if name := f.Tag.Get("json"); name != "" {
			names = append(names, name)
		}
		names = append(names, fieldsOf(f.Type)...)
	}
	return names
}

// A claim about security must name a test that exists.
func TestDocsNameTestsThatExist(t *testing.T) {
	tests := map[string]bool{}
	for _, path := range testFiles(t) {
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(readDoc(t, path), -1) {
			tests[m[1]] = true
		}
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(readDoc(t, "docs/security.md"), -1)
	if len(named) == 0 {
		t.Fatal("docs/security.md names no test")
	}
	for _, m := range named {
		if !tests[m[1]] {
			t.Errorf("docs/security.md names %s, which is no test", m[1])
		}
	}
}

func testFiles(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func readDoc(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(root + "/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The README must name every command.
func TestReadmeNamesEveryCommand(t *testing.T) {
	text := readDoc(t, "README.md")
	for _, cmd := range newRoot().Commands() {
		if !strings.Contains(text, "cloche "+cmd.Name()) {
			t.Errorf("README.md does not name cloche %s", cmd.Name())
		}
	}
}
