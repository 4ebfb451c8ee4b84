package api

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// pagePath has no slash at its end, so that the page's relative URLs start from
// the folder in which the API lies: on AWS and behind some proxies that is not
// the root.
const (
	pagePath  = "/dashboard"
	pageIndex = "index.html"
)

// pagePolicy lets the page load its own files and ask its own server. Markup
// cannot be made from text by a script at all, and pictures may also be in the
// page, since that is how a snippet's are shown.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// pageTypes are fixed: what the mime package says depends on the machine.
var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// pageRoutes serve the dashboard: its index at pagePath, and each other file
// below that. They are for people and so not in the document.
func pageRoutes(files fs.FS) ([]route, error) {
	if files == nil {
		return nil, nil
	}
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, fmt.Errorf("list the page's files: %w", err)
	}
	var routes []route
	for _, entry := range entries {
		handler, err := pageFile(files, entry.Name())
		if err != nil {
			return nil, err
		}
		at := pagePath
		if entry.Name() != pageIndex {
			at += "/" + entry.Name()
		}
		routes = append(routes, route{huma.Operation{Method: http.MethodGet, Path: at, Hidden: true}, handler})
	}
	return routes, nil
}

// pageFile serves one file. A browser may keep it and has to ask each time
// whether it is still the same, so that no page runs with another's script.
func pageFile(files fs.FS, name string) (http.Handler, error) {
	mediaType, known := pageTypes[path.Ext(name)]
	if !known {
		return nil, fmt.Errorf("the page's file %s is of no known type", name)
	}
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("read the page's file: %w", err)
	}
	sum := sha256.Sum256(content)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", tag)
		if tagged(r.Header, tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		send(w, http.StatusOK, mediaType, content, nil)
	}), nil
}

// tagged reports whether a browser has the file with this tag already (RFC 9110,
// 13.1.2). Parts of a file and other conditions are not served: the whole file is
// a right answer to all of them.
func tagged(h http.Header, tag string) bool {
	for _, known := range strings.Split(strings.Join(h.Values("If-None-Match"), ","), ",") {
		known = strings.TrimSpace(known)
		if known == "*" || strings.TrimPrefix(known, "W/") == tag {
			return true
		}
	}
	return false
}
