// Package web holds the dashboard: one static page that asks the server it came
// from. It needs no build step and nothing from elsewhere, so it works offline
// and below any path.
package web

import (
	"embed"
	"io/fs"
)

//go:embed index.html dashboard.css icon.svg *.js
var files embed.FS

// Files has index.html, which is the page, and what the page loads as
// dashboard/NAME. All its URLs are relative to the folder of the page's own.
func Files() fs.FS { return files }
