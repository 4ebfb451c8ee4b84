package web_test

import (
	"bytes"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"cloche/internal/snippet"
	"cloche/web"
)

// most is what all files together may have, uncompressed.
const most = 150 << 10

func contents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(web.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(web.Files(), name)
		all[name] = string(content)
		return err
	})
	if err != nil || all["index.html"] == "" {
		t.Fatalf("%d files, %v", len(all), err)
	}
	return all
}

func TestSize(t *testing.T) {
	sum := 0
	for name, content := range contents(t) {
		sum += len(content)
		if bytes.ContainsRune([]byte(content), '\r') {
			t.Errorf("%s has carriage returns", name)
		}
	}
	if t.Logf("%d bytes", sum); sum > most {
		t.Errorf("%d bytes; at most %d", sum, most)
	}
}

// The only names that look like addresses are those of XML namespaces.
var namespace = regexp.MustCompile(`http://www\.w3\.org/2000/svg`)

// The page must work offline and below any path.
func TestNoAbsoluteURL(t *testing.T) {
	absolute := regexp.MustCompile(`(?i)(https?:|wss?:|["'(=]\s*//|\b(href|src|action|data|poster|srcset)\s*=\s*["']?/|\burl\(|@import|["'` + "`" + `]/[a-z])`)
	for name, content := range contents(t) {
		for _, found := range absolute.FindAllString(namespace.ReplaceAllString(content, ""), -1) {
			t.Errorf("%s has %q", name, found)
		}
	}
}

// The policy would stop what is inline, and text must never become markup.
func TestNothingInlineAndNoMarkupFromText(t *testing.T) {
	page := contents(t)["index.html"]
	for _, found := range regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(?:[^>]*)>[^<]|javascript:`).FindAllString(page, -1) {
		t.Errorf("index.html has %q", found)
	}
	sinks := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|setHTML|\beval\(|new Function|"style"|cssText`)
	for name, content := range contents(t) {
		for _, found := range sinks.FindAllString(content, -1) {
			t.Errorf("%s has %s", name, found)
		}
	}
}

// Every file is used, and everything used is there.
func TestFilesAndLinksMatch(t *testing.T) {
	all := contents(t)
	used := map[string]bool{"index.html": true}
	for _, m := range regexp.MustCompile(`"dashboard/([^"]+)"`).FindAllStringSubmatch(all["index.html"], -1) {
		used[m[1]] = true
	}
	for name, content := range all {
		for _, m := range regexp.MustCompile(`(?m)^(?:import|export) .*? from "\./([^"]+)"`).FindAllStringSubmatch(content, -1) {
			used[m[1]] = true
			if !strings.Contains(all["index.html"], "dashboard/"+m[1]) {
				t.Errorf("%s loads %s, which the page does not announce", name, m[1])
			}
		}
	}
	for name := range used {
		if _, there := all[name]; !there {
			t.Errorf("%s is used and not there", name)
		}
	}
	for name := range all {
		if !used[name] {
			t.Errorf("%s is there and not used", name)
		}
	}
}

// What a script looks up by its id must be in the page.
func TestIdsAreThere(t *testing.T) {
	all := contents(t)
	for name, content := range all {
		for _, m := range regexp.MustCompile(`byId\("([^"]+)"\)`).FindAllStringSubmatch(content, -1) {
			if strings.Count(all["index.html"], `id="`+m[1]+`"`) != 1 {
				t.Errorf("%s looks for #%s, which is not once in the page", name, m[1])
			}
		}
	}
}

// Every outcome that the server knows has its place on the page.
func TestOutcomesMatch(t *testing.T) {
	page := contents(t)
	for _, o := range snippet.Outcomes() {
		for _, sign := range []string{`data-tile="` + string(o) + `"`, `value="` + string(o) + `"`} {
			if !strings.Contains(page["index.html"], sign) {
				t.Errorf("index.html lacks %s", sign)
			}
		}
		if !strings.Contains(page["format.js"], `"`+string(o)+`"`) || !strings.Contains(page["dashboard.css"], ".badge."+string(o)) {
			t.Errorf("%s has no place in the charts or no colour", o)
		}
	}
}
