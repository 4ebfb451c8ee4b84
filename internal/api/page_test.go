package api

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"cloche/internal/service"
	"cloche/web"
)

func withPage(_ *service.Config, c *Config) { c.Page = web.Files() }

// pagePaths lists where the page's files are served.
func pagePaths(t *testing.T) (paths []string) {
	t.Helper()
	names, err := fs.Glob(web.Files(), "*")
	if err != nil || len(names) < 3 {
		t.Fatalf("files %v, %v", names, err)
	}
	for _, name := range names {
		paths = append(paths, strings.TrimSuffix("/dashboard/"+name, "/index.html"))
	}
	return paths
}

func TestPageHeaders(t *testing.T) {
	b := serve(t, withPage)
	for _, path := range pagePaths(t) {
		r := b.do(t, http.MethodGet, path, "")
		if r.status != http.StatusOK || len(r.body) == 0 {
			t.Errorf("%s: status %d", path, r.status)
		}
		for name, want := range map[string]string{
			"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := r.header.Get(name); got != want {
				t.Errorf("%s: %s %q, want %q", path, name, got, want)
			}
		}
	}
	for path, want := range map[string]string{
		"/dashboard":               "text/html; charset=utf-8",
		"/dashboard/dashboard.css": "text/css; charset=utf-8",
		"/dashboard/dashboard.js":  "text/javascript; charset=utf-8",
		"/dashboard/icon.svg":      "image/svg+xml",
	} {
		if got := b.do(t, http.MethodGet, path, "").header.Get("Content-Type"); got != want {
			t.Errorf("%s: content type %q, want %q", path, got, want)
		}
	}
}

// The policy allows the page's own files and nothing from elsewhere or inline.
func TestPagePolicy(t *testing.T) {
	b := serve(t, withPage)
	directives := map[string]string{}
	for _, d := range strings.Split(b.do(t, http.MethodGet, "/dashboard", "").header.Get("Content-Security-Policy"), ";") {
		name, sources, _ := strings.Cut(strings.TrimSpace(d), " ")
		directives[name] = sources
	}
	for name, want := range map[string]string{
		"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'", "img-src": "'self' data:",
		"base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
		"require-trusted-types-for": "'script'", "trusted-types": "'none'",
	} {
		if directives[name] != want {
			t.Errorf("%s %q, want %q", name, directives[name], want)
		}
		delete(directives, name)
	}
	if len(directives) > 0 {
		t.Errorf("more than expected: %v", directives)
	}
}

func TestPageIsNotSentTwice(t *testing.T) {
	b := serve(t, withPage)
	for _, path := range pagePaths(t) {
		tag := b.do(t, http.MethodGet, path, "").header.Get("ETag")
		if r := b.do(t, http.MethodGet, path, "", "If-None-Match", tag); tag == "" || r.status != http.StatusNotModified || len(r.body) > 0 {
			t.Errorf("%s: tag %s, then status %d with %d bytes", path, tag, r.status, len(r.body))
		}
		if r := b.do(t, http.MethodGet, path, "", "If-None-Match", `"other"`); r.status != http.StatusOK {
			t.Errorf("%s: status %d for another tag", path, r.status)
		}
	}
}

// A condition or a range must not lead to an answer that is neither the file nor
// a problem.
func TestPageIsServedWhole(t *testing.T) {
	b := serve(t, withPage)
	whole := b.do(t, http.MethodGet, "/dashboard", "")
	for _, header := range [][]string{
		{"Range", "bytes=999999999-"}, {"Range", "bytes=0-1"}, {"If-Match", `"other"`}, {"If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT"},
	} {
		if r := b.do(t, http.MethodGet, "/dashboard", "", header...); r.status != 200 || string(r.body) != string(whole.body) {
			t.Errorf("%v: status %d, %d bytes", header, r.status, len(r.body))
		}
	}
	tag := whole.header.Get("ETag")
	for _, known := range []string{"*", `"a", W/` + tag, `"a",` + tag} {
		if r := b.do(t, http.MethodGet, "/dashboard", "", "If-None-Match", known); r.status != http.StatusNotModified {
			t.Errorf("%s: status %d", known, r.status)
		}
	}
}

func TestPageRefusals(t *testing.T) {
	b := serve(t, withPage)
	for request, want := range map[string]int{
		"HEAD /dashboard":                200,
		"POST /dashboard":                405,
		"POST /dashboard/dashboard.js":   405,
		"GET /dashboard/":                404, // its relative links would lead elsewhere
		"GET /dashboard/index.html":      404,
		"GET /dashboard/embed.go":        404,
		"GET /dashboard/nothing.js":      404,
		"GET /dashboard/%2e%2e/api.go":   404,
		"GET /dashboard/dashboard.js%00": 404,
	} {
		method, path, _ := strings.Cut(request, " ")
		if r := b.do(t, method, path, ""); r.status != want {
			t.Errorf("%s: status %d, want %d", request, r.status, want)
		}
	}
	if r := b.do(t, http.MethodGet, "/dashboard", "", "Host", "evil.example"); r.status != http.StatusForbidden {
		t.Errorf("another host: status %d", r.status)
	}
	if r := serve(t, nil).do(t, http.MethodGet, "/dashboard", ""); r.status != http.StatusNotFound {
		t.Errorf("without a page: status %d", r.status)
	}
}

// On AWS and behind some proxies the page lies below a path that the server does
// not see. From there each of its links must lead to the same thing.
func TestPageUnderPrefix(t *testing.T) {
	b := serve(t, withPage)
	mux := http.NewServeMux()
	mux.Handle("/some/stage/", http.StripPrefix("/some/stage", b.Config.Handler))
	outer := httptest.NewServer(mux)
	defer outer.Close()
	for _, path := range append(pagePaths(t), "/metrics", "/events", "/health", "/policy", "/openapi.json") {
		resp, err := outer.Client().Get(outer.URL + "/some/stage" + path)
		if err != nil {
			t.Fatal(err)
		}
		if r := readReply(t, resp); r.status != http.StatusOK || r.header.Get("Location") != "" {
			t.Errorf("%s: status %d", path, r.status)
		}
	}
}

// The page is for people: programs find nothing about it in the document.
func TestPageIsNotInTheDocument(t *testing.T) {
	for path := range readDocument(t, serve(t, withPage)).Paths {
		if strings.HasPrefix(path, pagePath) {
			t.Errorf("%s is in the document", path)
		}
	}
}

func TestPageMustBeComplete(t *testing.T) {
	s := &server{config: Config{Page: fstest.MapFS{"index.html": {}, "data.bin": {}}}}
	if _, err := s.routes(newDocument("test")); err == nil {
		t.Error("a file of no known type is taken")
	}
}
